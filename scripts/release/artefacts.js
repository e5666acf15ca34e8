import { constants, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packageFolders } from '../package-folders.js'
import { cycloneDx, spdx } from './bill-of-materials.js'
import { checksumsOf } from './checksums.js'
import { commitTime } from './commit-time.js'
import { dependenciesOf } from './dependencies.js'
import { licenceTable } from './licences.js'
import { provenance, sourceOf } from './provenance.js'

const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`

/** Creates a directory for a release. @throws Error if it has files: a former release, or what is none of it, would get checksums */
export function prepareOutput(directory) {
  mkdirSync(directory, { recursive: true })
  if (readdirSync(directory).length > 0) {
    throw new Error(`${directory} is not empty: a file that is there would get a checksum; choose another directory`)
  }
}

/**
 * Writes what people check a release with: its tarballs and the server in one file, its bill of materials in two formats, its
 * licences, the commit and programs of the build, and checksums.
 *
 * @param root the repository
 * @param directory as `prepareOutput()` has left it
 * @param packed the tarballs: [{ version, tarball }]
 * @param more paths of other files of the release, such as its image
 * @throws Error if a licence is not accepted
 */
export function writeArtefacts(root, directory, packed, more = []) {
  const components = dependenciesOf(root, packageFolders)
  const release = { version: packed[0].version, time: commitTime(root) }
  for (const file of [...packed.map(({ tarball }) => tarball), ...more]) {
    copyFileSync(file, join(directory, basename(file)), constants.COPYFILE_EXCL)
  }
  copyFileSync(join(root, 'packages/server/dist/grantry.mjs'), join(directory, 'grantry.mjs'))
  copyFileSync(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  writeFileSync(join(directory, 'grantry.cdx.json'), json(cycloneDx(components, release)))
  writeFileSync(join(directory, 'grantry.spdx.json'), json(spdx(components, release)))
  writeFileSync(join(directory, 'licences.txt'), licenceTable(components))
  writeFileSync(join(directory, 'provenance.intoto.json'), json(provenance(checksumsOf(directory), sourceOf(root))))
  const sums = checksumsOf(directory)
  writeFileSync(join(directory, 'SHA256SUMS'), sums)
  return { components: components.length, files: sums.split('\n').length - 1 }
}
