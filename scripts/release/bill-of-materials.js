import { createHash } from 'node:crypto'

const purl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`

const digestOf = ({ integrity }) => {
  const [, algorithm, value] = /^(sha\d+)-([\w+/=]+)/u.exec(integrity ?? '') ?? []
  return algorithm && { algorithm: algorithm.toUpperCase(), hex: Buffer.from(value, 'base64').toString('hex') }
}

/** Whether a licence is a name of the SPDX list, and not an expression of several. */
const isSingle = (licence) => !/[ ()]/u.test(licence)

/** A UUID (version 8) from what the document contains. */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * Returns a bill of materials as CycloneDX 1.6. It is the same for the same commit: its time is that of the commit, and its number
 * a hash.
 *
 * @param time that of the commit, as ISO 8601 with seconds
 */
export function cycloneDx(components, { version, time }) {
  const component = (each) => {
    const digest = digestOf(each)
    return {
      type: 'library',
      'bom-ref': purl(each),
      name: each.name,
      version: each.version,
      ...(digest && { hashes: [{ alg: digest.algorithm.replace('SHA', 'SHA-'), content: digest.hex }] }),
      licenses: [isSingle(each.licence) ? { license: { id: each.licence } } : { expression: each.licence }],
      purl: purl(each),
    }
  }
  const refOf = new Map(components.map((each) => [`${each.name}@${each.version}`, purl(each)]))
  const document = {
    metadata: {
      timestamp: time,
      component: { type: 'application', 'bom-ref': `grantry-release@${version}`, name: 'grantry-release', version },
    },
    components: components.map(component),
    dependencies: [
      { ref: `grantry-release@${version}`, dependsOn: components.filter(({ isOurs }) => isOurs).map(purl) },
      ...components.map((each) => ({ ref: purl(each), dependsOn: each.dependsOn.map((id) => refOf.get(id)) })),
    ],
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(document))}`
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...document }
}

const spdxId = (id) => `SPDXRef-${id.replaceAll(/[^\w.-]+/gu, '-')}`

/** Returns the same as SPDX 2.3. */
export function spdx(components, { version, time }) {
  const idOf = ({ name, version: of }) => spdxId(`${name}@${of}`)
  const packages = components.map((each) => {
    const digest = digestOf(each)
    return {
      SPDXID: idOf(each),
      name: each.name,
      versionInfo: each.version,
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      licenseDeclared: each.licence,
      copyrightText: 'NOASSERTION',
      ...(digest && { checksums: [{ algorithm: digest.algorithm, checksumValue: digest.hex }] }),
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl(each) }],
    }
  })
  const relationships = [
    ...components.flatMap((each) =>
      each.isOurs
        ? [{ spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: idOf(each) }]
        : [],
    ),
    ...components.flatMap((each) =>
      each.dependsOn.map((id) => ({
        spdxElementId: idOf(each),
        relationshipType: 'DEPENDS_ON',
        relatedSpdxElement: spdxId(id),
      })),
    ),
  ]
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `grantry-${version}`,
    documentNamespace: `https://github.com/grantry/grantry/spdx/${version}/${uuidOf(JSON.stringify(packages))}`,
    creationInfo: { created: time, creators: ['Tool: scripts/release.js'] },
    packages,
    relationships,
  }
}
