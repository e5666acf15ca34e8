import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { packageFolders } from '../../scripts/package-folders.js'

// Checks what the registry shows and what npm installs: the package.json of each published package.

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly homepage: string
  readonly bugs: string
  readonly repository: { readonly type: string; readonly url: string; readonly directory?: string }
  readonly author: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly keywords?: readonly string[]
  readonly publishConfig?: object
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

const repository = manifestOf('.')
const versions = packageFolders.map((folder) => manifestOf(folder).version)

const range = /^\^\d+\.\d+\.\d+(?: \|\| \^\d+\.\d+\.\d+)*$/u
const pin = /^(?:npm:(?:@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+$/u

const violations = (dependencies: Manifest['dependencies'], form: RegExp): readonly string[] =>
  Object.entries(dependencies ?? {})
    .filter(([, version]) => !form.test(version) && !version.startsWith('file:'))
    .map(([name, version]) => `${name} ${version}`)

describe.each(packageFolders)('the manifest of %s', (folder) => {
  const manifest = manifestOf(folder)

  test('names the repository, its folder and the author as the root manifest does', () => {
    const { homepage, bugs, author, license, engines } = repository
    expect(manifest).toMatchObject({ homepage, bugs, author, license, engines })
    expect(manifest.repository).toEqual({ ...repository.repository, directory: folder })
  })

  test('has a description and keywords, is public and is published with provenance', () => {
    expect(manifest.description).toMatch(/^.{20,}$/u)
    expect(manifest.keywords?.length).toBeGreaterThan(3)
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true })
  })

  test('exports package.json', () => {
    expect(manifest.exports['./package.json']).toBe('./package.json')
  })

  test('has the version of all packages', () => {
    expect(new Set(versions)).toEqual(new Set([manifest.version]))
  })

  test('accepts ranges of its dependencies', () => {
    expect(
      violations({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }, range),
    ).toEqual([])
  })
})

test('the addresses of the repository agree with each other', () => {
  const { homepage, bugs, repository: source } = repository
  const address = source.url.replace(/^git\+/u, '').replace(/\.git$/u, '')
  expect(source).toEqual({ type: 'git', url: `git+${address}.git` })
  expect({ homepage, bugs }).toEqual({ homepage: `${address}#readme`, bugs: `${address}/issues` })
})

test.each(['.', 'test', 'examples', 'runtimes', 'bench/peers'])('the dependencies of %s are pinned', (folder) => {
  const { dependencies, devDependencies } = manifestOf(folder)
  expect(Object.keys({ ...dependencies, ...devDependencies }).length).toBeGreaterThan(0)
  expect(violations({ ...dependencies, ...devDependencies }, pin)).toEqual([])
})

test.each(['^1', '1.2.3', '*', '>=1.0.0', '^1.2.3 || 2.0.0'])('%j is not a range that a library accepts', (version) => {
  expect(violations({ a: version }, range)).toHaveLength(1)
})

test.each(['^1.2.3', '1', 'npm:a@^1.2.3', 'latest'])('%j is not a pin', (version) => {
  expect(violations({ a: version }, pin)).toHaveLength(1)
})

test('the server in one file includes every plugin, for configurations that are modules', () => {
  const source = readFileSync(join(root, 'packages/server/src/single-file.ts'), 'utf8')
  const included = [...source.matchAll(/'@grantry\/plugins\/([\w-]+)'/gu)].map(([, name]) => name)
  // The server installs these itself.
  const active = ['authorization-code', 'client-credentials', 'password', 'proof-key', 'refresh-token']
  const names = Object.keys(manifestOf('plugins').exports).map((path) => path.slice(2))
  const expected = names.filter((name) => name !== 'package.json' && !active.includes(name))
  expect(included).toEqual(expected)
})
