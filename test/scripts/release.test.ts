import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { packageFolders } from '../../scripts/package-folders.js'
import { prepareOutput, writeArtefacts } from '../../scripts/release/artefacts.js'
import { cycloneDx, spdx } from '../../scripts/release/bill-of-materials.js'
import { checksumsOf } from '../../scripts/release/checksums.js'
import { dependenciesOf } from '../../scripts/release/dependencies.js'
import { licenceTable } from '../../scripts/release/licences.js'
import { provenance, sourceOf } from '../../scripts/release/provenance.js'
import { differences } from '../../scripts/release/reproduced.js'
import { singleFile } from '../deploy/single-file.ts'
import { root } from '../docs/code-blocks.ts'

interface Subject {
  readonly name: string
  readonly digest: { readonly sha256: string }
}

const directory = mkdtempSync(join(tmpdir(), 'grantry-release-test-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Writes files, and returns their folder. */
function written(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    const file = join(directory, name, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return join(directory, name)
}

/** A repository with one package, which needs the packages that are locked. */
const repository = (name: string, locked: object, more: object = {}): string =>
  written(name, {
    'packages/ours/package.json': '{ "name": "@ours/ours", "license": "MIT" }',
    'package-lock.json': JSON.stringify({
      packages: { 'packages/ours': { version: '1.0.0', license: 'MIT', ...more }, ...locked },
    }),
  })

const namesOf = (folder: string) =>
  dependenciesOf(folder, ['packages/ours']).map(({ name, version }) => `${name} ${version}`)

describe('the dependencies of a release', () => {
  test('have the version that each package gets, as Node.js finds it', () => {
    const locked = {
      'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '^1.0.0' } },
      'node_modules/a/node_modules/b': { version: '1.5.0', license: 'MIT' },
      'node_modules/b': { version: '2.0.0', license: 'MIT' },
      'node_modules/unused': { version: '1.0.0', license: 'MIT' },
    }
    const folder = repository('nested', locked, { dependencies: { a: '^1.0.0', b: '^2.0.0' } })
    expect(namesOf(folder)).toEqual(['@ours/ours 1.0.0', 'a 1.0.0', 'b 1.5.0', 'b 2.0.0'])
    expect(dependenciesOf(folder, ['packages/ours'])[0]?.dependsOn).toEqual(['a@1.0.0', 'b@2.0.0'])
  })

  test('include the optional peers of our packages, and not those of others', () => {
    const optional = (name: string) => ({
      peerDependencies: { [name]: '*' },
      peerDependenciesMeta: { [name]: { optional: true } },
    })
    const locked = {
      'node_modules/pg': { version: '8.0.0', license: 'MIT', ...optional('compiler') },
      'node_modules/compiler': { version: '7.0.0', license: 'MIT' },
    }
    expect(namesOf(repository('peers', locked, optional('pg')))).toEqual(['@ours/ours 1.0.0', 'pg 8.0.0'])
    expect(namesOf(repository('absent-peers', {}, optional('pg')))).toEqual(['@ours/ours 1.0.0'])
  })

  test('are refused if one is missing', () => {
    const folder = repository('missing', {}, { dependencies: { a: '^1.0.0' } })
    expect(() => namesOf(folder)).toThrow('@ours/ours@1.0.0 needs a, which package-lock.json does not have')
  })
})

describe('licences', () => {
  const component = (licence: string) => ({ name: 'a', version: '1.0.0', licence, dependsOn: [], isOurs: false })

  test.each([
    'MIT',
    '(MIT OR GPL-3.0-only)',
    'MIT AND ISC',
    'BlueOak-1.0.0',
    '(GPL-3.0-only OR MIT) AND ISC',
    'GPL-3.0-only AND ISC OR MIT',
    '(((MIT)))',
  ])('%s is accepted', (licence) => {
    expect(licenceTable([component(licence)])).toBe(`${licence}\ta 1.0.0\n`)
  })

  test.each([
    ...['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'UNLICENSED', 'SEE LICENSE IN terms'],
    ...['(MIT OR ISC) AND GPL-3.0-only', 'GPL-3.0-only AND (ISC OR MIT)', 'MIT AND (GPL-2.0-only OR GPL-3.0-only)'],
    ...['Apache-2.0 WITH LLVM-exception', '(MIT', 'MIT)', 'MIT OR', '', 'MIT ISC', 'MIT and ISC'],
  ])('%s is refused', (licence) => {
    expect(() => licenceTable([component(licence)])).toThrow(`these licences are not accepted: a 1.0.0 (${licence})`)
  })
})

describe('the bill of materials of this repository', () => {
  const components = dependenciesOf(root, packageFolders)
  const release = { version: '0.1.0', time: '2026-11-29T00:00:00Z' }

  test('lists all packages, and accepts their licences', () => {
    expect(components.filter(({ isOurs }) => isOurs)).toHaveLength(packageFolders.length)
    expect(licenceTable(components)).toContain('MIT\tjose ')
  })

  test('of CycloneDX refers only to components that it has, with the digest of each', () => {
    const document = cycloneDx(components, release)
    const refs = new Set(document.components.map((each) => each['bom-ref']))
    expect(refs.size).toBe(components.length)
    expect(document.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([])
    const digests = document.components.flatMap(({ hashes = [] }) => hashes.map(({ content }) => content))
    expect(digests).toHaveLength(components.length - packageFolders.length)
    expect(digests.filter((digest) => !/^[\da-f]{128}$/u.test(digest))).toEqual([])
    expect(cycloneDx(components, release)).toEqual(document)
  })

  test('of SPDX refers only to packages that it has', () => {
    const document = spdx(components, release)
    const ids = new Set(['SPDXRef-DOCUMENT', ...document.packages.map(({ SPDXID }) => SPDXID)])
    expect(ids.size).toBe(components.length + 1)
    const named = document.relationships.flatMap((each) => [each.spdxElementId, each.relatedSpdxElement])
    expect(named.filter((id) => !ids.has(id))).toEqual([])
    expect([...ids].filter((id) => !/^SPDXRef-[\w.-]+$/u.test(id))).toEqual([])
  })
})

test('checksums are those that sha256sum checks', () => {
  const folder = written('sums', { 'b.txt': 'b', 'a.tgz': 'a' })
  const sums = checksumsOf(folder)
  expect(sums.split('\n').map((line) => line.slice(66))).toEqual(['a.tgz', 'b.txt', ''])
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: folder, input: sums })
})

describe('the provenance of a release', () => {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const sums = `${hash('a')}  a.tgz\n${hash('b')}  image.tar\n`
  const source = { commit: 'c'.repeat(40), changed: false, lock: hash('lock'), programs: { node: 'v20.0.0' } }

  test('names each file with its digest, the commit and the programs, and is the same at another time', () => {
    const statement = provenance(sums, source, {})
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      subject: [
        { name: 'a.tgz', digest: { sha256: hash('a') } },
        { name: 'image.tar', digest: { sha256: hash('b') } },
      ],
      predicate: { buildDefinition: { internalParameters: { node: 'v20.0.0' } } },
    })
    expect(statement.predicate.buildDefinition.resolvedDependencies).toEqual([
      { uri: 'git+https://github.com/grantry/grantry', digest: { gitCommit: 'c'.repeat(40) } },
      { name: 'package-lock.json', uri: 'git+https://github.com/grantry/grantry', digest: { sha256: hash('lock') } },
    ])
    expect(JSON.stringify(statement)).not.toMatch(/\d{4}-\d{2}-\d{2}T|Time|invocationId/u)
  })

  test('says that a commit alone was not what was built', () => {
    const [first] = provenance(sums, { ...source, changed: true }, {}).predicate.buildDefinition.resolvedDependencies
    expect(first).toMatchObject({ annotations: { uncommittedChanges: true } })
  })

  test('names the workflow only where one runs', () => {
    const workflow = { GITHUB_SERVER_URL: 'https://forge.example', GITHUB_WORKFLOW_REF: 'a/b/release.yml@refs/tags/v1' }
    const builder = (environment: Readonly<Record<string, string>>) =>
      provenance(sums, source, environment).predicate.runDetails.builder.id
    expect(builder({ ...workflow, GITHUB_ACTIONS: 'true' })).toBe('https://forge.example/a/b/release.yml@refs/tags/v1')
    expect(builder(workflow)).toBe('https://github.com/grantry/grantry/blob/main/SECURITY.md#checking-a-release')
  })

  test('has every file of the release but the checksums, which have it, too', async () => {
    await singleFile()
    const output = join(directory, 'release')
    const folder = written('packed', { 'a.tgz': 'a', 'image.tar': 'b' })
    const [tarball, image] = [join(folder, 'a.tgz'), join(folder, 'image.tar')]
    prepareOutput(output)
    const { files } = writeArtefacts(root, output, [{ version: '1.0.0', tarball }], [image])
    const lines = readFileSync(join(output, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
    const statement = JSON.parse(readFileSync(join(output, 'provenance.intoto.json'), 'utf8'))
    expect(statement.subject).toContainEqual({ name: 'image.tar', digest: { sha256: hash('b') } })
    expect(statement.subject.map(({ name, digest }: Subject) => `${digest.sha256}  ${name}`)).toEqual(
      lines.filter((line) => !line.endsWith(' provenance.intoto.json')),
    )
    expect(lines).toHaveLength(files)
    expect(files).toBe(statement.subject.length + 1)
    // A file that has the name of another one would replace it.
    prepareOutput(join(directory, 'other'))
    expect(() => writeArtefacts(root, join(directory, 'other'), [{ version: '1', tarball }], [tarball])).toThrow(
      'EEXIST',
    )
  })

  test('of this repository names a commit that git has', () => {
    const { commit, lock, programs } = sourceOf(root)
    expect(execFileSync('git', ['cat-file', '-t', commit], { cwd: root, encoding: 'utf8' })).toBe('commit\n')
    expect(lock).toBe(hash(readFileSync(join(root, 'package-lock.json'), 'utf8')))
    expect(programs.node).toBe(process.version)
  })
})

test('what a release writes goes into a directory that is empty, or missing', () => {
  const missing = join(directory, 'output/of-a-release')
  prepareOutput(missing)
  prepareOutput(missing)
  const former = written('former-release', { SHA256SUMS: '' })
  expect(() => prepareOutput(former)).toThrow(`${former} is not empty: a file that is there would get a checksum`)
})

test('two builds differ in the files whose bytes differ, or that only one of them has', () => {
  const files = {
    'a/dist/same.js': '1',
    'a/dist/.tsbuildinfo': 'one',
    'a/dist/deep/path.js': '/one/path',
    'a/dist/only.js': '',
  }
  const first = written('first', files)
  const { 'a/dist/only.js': _, ...others } = files
  const second = written('second', { ...others, 'a/dist/.tsbuildinfo': 'two', 'a/dist/deep/path.js': '/two/path' })
  expect(differences(first, first, ['a'])).toEqual([])
  expect(differences(first, second, ['a'])).toEqual(['a/dist/deep/path.js', 'a/dist/only.js'])
})
