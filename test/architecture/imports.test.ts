import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type Import, importsOf, type Source } from './imports-of.ts'

// Checks every import of every source file against the import rules of CONTRIBUTING.md.

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

// The layers of the core, top first. Entries on the same line are siblings.
const layers: readonly RegExp[] = [
  /^(?:index\.ts|testing\/)/u,
  /^(?:provider|create-services|options|startup-checks)\.ts/u,
  /^router\.ts/u,
  /^endpoints\//u,
  /^services\.ts/u,
  /^grants\//u,
  /^(?:credentials|tokens|keys)\//u,
  /^abuse\//u,
  /^registry\//u,
  /^plugin\//u,
  /^(?:records|http|errors|events|directory)\//u,
  /^sealed-json\.ts/u,
  /^(?:runtime|config-schema)\.ts/u,
  /^(?:types|encoding|promises|bounded-map|standard-schema)\.ts/u,
]

/** The allowed value imports between siblings, with reasons. Type imports between siblings are always allowed. */
const siblings: ReadonlyMap<string, string> = new Map([
  ['directory -> errors', 'a host function that does not respond results in a refusal'],
  ['errors -> http', 'a refusal is a response with the headers of every response'],
  ['http -> errors', 'the code that reads a malformed request refuses it'],
  ['records -> errors', 'an unreachable store results in a refusal'],
])

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)

function coreRefuses(from: string, { target, type }: Import): boolean {
  if (target === 'valibot') return false
  if (target === 'jose' || target.startsWith('jose/')) return !/^(?:keys|testing)\//u.test(from)
  // HKDF is not part of the runtime, because it runs only once for each generation of the key ring.
  if (target.startsWith('@noble/hashes/')) return from !== 'runtime.ts' && from !== 'keys/ring-cipher.ts'
  if (!target.startsWith('packages/core/src/')) return true
  const to = target.slice('packages/core/src/'.length)
  const [upper, lower] = [from, to].map((path) => layers.findIndex((layer) => layer.test(path)))
  if (upper === undefined || lower === undefined || upper < 0 || lower < 0 || upper > lower) return true
  if (upper < lower || type || folderOf(from) === folderOf(to)) return false
  // The entries are one part, and the files of the provider another.
  return upper > 1 && !siblings.has(`${folderOf(from)} -> ${folderOf(to)}`)
}

const kit = 'packages/storage-drivers/src/conformance'

const bridge = 'packages/adapters/src/http-bridge/'
const bridgeEntries = [`${bridge}index.ts`, `${bridge}portable.ts`]

/** The HTTP bridge could be published alone: it imports only `node:*`, and others import only its entries. */
const bridgeRefuses = (path: string, target: string): boolean =>
  path.startsWith(bridge)
    ? !target.startsWith(bridge) && !target.startsWith('node:')
    : target.startsWith(bridge) && !bridgeEntries.includes(target)

/**
 * The allowed imports from outside the own package (for a plugin: its own folder). A package that is not listed here
 * must not import anything.
 */
const outside: Readonly<Record<string, { values: RegExp; types: RegExp }>> = {
  // Plugins verify JWTs of others with jose. Tokens of this provider are validated by the core.
  plugins: { values: /^(?:@grantry\/core|valibot|jose(?:\/.+)?)$/u, types: /^(?:@grantry\/core|valibot|jose)$/u },
  'packages/storage-drivers': { values: /^(?:unstorage|ioredis|node:\w+)(?:\/|$)/u, types: /^@grantry\/core$/u },
  // The kit tests redemptions through a provider; a driver does not load one.
  [kit]: {
    values: /^(?:@grantry\/core(?:\/testing)?$|valibot$|node:)/u,
    types: /^(?:@grantry\/core(?:\/testing)?|valibot)$/u,
  },
  'packages/adapters': { values: /^(?:@hattip\/|node:)/u, types: /^@grantry\/core$/u },
  'packages/server': { values: /^[^.]/u, types: /^[^.]/u },
}

function refuses(path: string, imported: Import): boolean {
  if (path.startsWith('packages/core/src/')) return coreRefuses(path.slice('packages/core/src/'.length), imported)
  if (bridgeRefuses(path, imported.target)) return true
  const parts = path.split('/')
  const home = path.startsWith('plugins/') ? `plugins/${parts[1]}/` : `packages/${parts[1]}/src/`
  if (path.startsWith('plugins/') && imported.target.startsWith('plugins/shared/')) return false
  if (imported.target.startsWith(home)) return imported.target.startsWith(`${kit}/`) && !path.startsWith(`${kit}/`)
  if (/^(?:packages|plugins|\.\.)\//u.test(imported.target)) return true
  const rule =
    outside[path.startsWith('plugins/') ? 'plugins' : path.startsWith(`${kit}/`) ? kit : `packages/${parts[1]}`]
  if (rule === undefined) return true
  return !rule.values.test(imported.target) && !(imported.type && rule.types.test(imported.target))
}

const violations = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap((source) =>
    importsOf(source)
      .filter((imported) => refuses(source.path, imported))
      .map(({ target, type }) => `${source.path} -> ${target}${type ? ' (type)' : ''}`),
  )

/** Returns the files of one cycle, with the first repeated at the end. Type imports count. */
function findCycle(sources: readonly Source[], entries: ReadonlyMap<string, string>): readonly string[] | undefined {
  const graph = new Map(
    sources.map((source) => [source.path, importsOf(source).map(({ target }) => entries.get(target) ?? target)]),
  )
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...way, path])
      if (cycle !== undefined) return cycle
    }
    done.add(path)
    return undefined
  }
  for (const path of graph.keys()) {
    const cycle = visit(path, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

const packages = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'plugins']

const filesIn = (folders: readonly string[], form: RegExp): readonly Source[] =>
  folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => posix.join(folder, name)),
    )
    .filter((path) => form.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const sources = filesIn(packages, /^(?:packages\/[^/]+\/src|plugins\/(?!dist|node_modules)[^/]+)\/.*\.ts$/u)
const programs = filesIn(['test', 'proofs', 'bench'], /^(?!.*(?:node_modules|\.generated)\/).*\.ts$/u)

/** The source files of the public entries of our packages, by import name. */
const entries = new Map<string, string>(
  packages.flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
      name: string
      exports: Record<string, string | Record<string, string>>
    }
    return Object.entries(exports).flatMap(([subpath, entry]): [string, string][] =>
      typeof entry === 'string'
        ? []
        : [[posix.join(name, subpath), posix.join(folder, entry['@grantry/source'] ?? '')]],
    )
  }),
)

describe('imports', () => {
  test('of core, plugins, storage drivers, adapters and server are allowed', () => {
    expect(violations(sources)).toEqual([])
  })

  test('contain no cycle, in packages, tests, proofs and benchmarks', () => {
    expect(programs.length).toBeGreaterThan(300)
    expect(findCycle([...sources, ...programs], entries)).toBeUndefined()
  })

  test('use every allowed value import between siblings', () => {
    const used = sources.flatMap((source) => {
      const inside = (path: string): string => folderOf(path.replace('packages/core/src/', ''))
      return importsOf(source).map(({ target }) => `${inside(source.path)} -> ${inside(target)}`)
    })
    for (const sibling of siblings.keys()) expect(used).toContain(sibling)
  })

  test('are found in the sources', () => {
    const imported = new Map(sources.map((source) => [source.path, importsOf(source).map(({ target }) => target)]))
    expect(imported.get('packages/core/src/keys/key-ring.ts')).toContain('jose')
    expect(imported.get('packages/core/src/runtime.ts')).toContain('@noble/hashes/sha2.js')
    expect(imported.get('plugins/password/password.ts')).toEqual(['@grantry/core', 'valibot'])
    expect(imported.get('packages/storage-drivers/src/memory.ts')).toContain('@grantry/core')
    expect(imported.get('packages/adapters/src/hattip.ts')).toContain('@hattip/core')
    expect(entries.get('@grantry/core/testing')).toBe('packages/core/src/testing/index.ts')
  })
})

describe('the import check', () => {
  const core = 'packages/core/src'
  test.each([
    ['a package that the core must not import', `${core}/router.ts`, "import fs from 'node:fs'"],
    ['a type of such a package', `${core}/options.ts`, "import type { Storage } from 'unstorage'"],
    ['jose outside its folders', `${core}/endpoints/token.ts`, "import { jwtVerify } from 'jose'"],
    ['a part of jose outside its folders', `${core}/endpoints/token.ts`, "import { jwtVerify } from 'jose/jwt/verify'"],
    ['hashing outside the runtime', `${core}/encoding.ts`, "import { sha256 } from '@noble/hashes/sha2.js'"],
    ['a dynamic import', `${core}/router.ts`, "const { x } = await import('ioredis')"],
    ['an import of a computed name', `${core}/router.ts`, 'const x = await import(name)'],
    ['require()', `${core}/router.ts`, "const x = require('node:fs')"],
    ['an import for its side effect', `${core}/router.ts`, "import 'node:fs'"],
    ['a re-export', `${core}/index.ts`, "export * from '@grantry/plugins/password'"],
    ['a multi-line import', `${core}/router.ts`, "import {\n  a,\n  b,\n} from 'ioredis'"],
    ['an import after a comment with an apostrophe', `${core}/router.ts`, "// don't\nimport a from 'ioredis'"],
    ['an import from a higher layer', `${core}/records/store.ts`, "import type { Mint } from '../grants/mint.ts'"],
    [
      'a value of a sibling without a listed reason',
      `${core}/keys/a.ts`,
      "import { a } from '../credentials/basic.ts'",
    ],
    ['the testing kit in the core', `${core}/provider.ts`, "import { read } from './testing/index.ts'"],
    ['a file outside every layer', `${core}/misc/a.ts`, "import { utf8 } from '../encoding.ts'"],
    ['an internal file of the core in a plugin', 'plugins/a/a.ts', "import { utf8 } from '@grantry/core/encoding'"],
    ['another plugin in a plugin', 'plugins/a/a.ts', "import { b } from '../b/b.ts'"],
    ['a plugin in the files that plugins share', 'plugins/shared/a.ts', "import { b } from '../b/b.ts'"],
    [
      'values of the core in a driver',
      'packages/storage-drivers/src/a.ts',
      "import { webRuntime } from '@grantry/core'",
    ],
    [
      'a driver in an adapter',
      'packages/adapters/src/a.ts',
      "import type { A } from '@grantry/storage-drivers/memory'",
    ],
    ['a type of the core in the HTTP bridge', `${bridge}a.ts`, "import type { Handler } from '@grantry/core'"],
    ['another file of the adapters in the HTTP bridge', `${bridge}a.ts`, "import type { A } from '../servable.ts'"],
    ['an internal file of the HTTP bridge', 'packages/adapters/src/a.ts', "import { a } from './http-bridge/send.ts'"],
    [
      'files of another package in the server',
      'packages/server/src/a.ts',
      "import { a } from '../../core/src/types.ts'",
    ],
    ['any import of a package without rules', 'packages/new/src/a.ts', "import 'node:fs'"],
  ])('rejects %s', (_what, path, text) => {
    expect(violations([{ path, text }])).toHaveLength(1)
  })

  test.each([
    ['a comment', `${core}/router.ts`, "// import fs from 'node:fs'\n/* import('ioredis') */"],
    ['types of a sibling', `${core}/keys/a.ts`, "import type { A } from '../credentials/basic.ts'"],
    ['a layer below', `${core}/endpoints/a.ts`, "import { hashOf } from '../records/keys.ts'"],
    ['types of the core in a driver', 'packages/storage-drivers/src/a.ts', "import type { A } from '@grantry/core'"],
    ['Node.js in the HTTP bridge', `${bridge}a.ts`, "import { isIP } from 'node:net'\nimport { a } from './a.ts'"],
    ['an entry of the HTTP bridge', 'packages/adapters/src/a.ts', "import { serve } from './http-bridge/index.ts'"],
    ['jose in a plugin', 'plugins/a/a.ts', "import { jwtVerify } from 'jose/jwt/verify'"],
    ['its own folder in a plugin', 'plugins/a/a.ts', "import { b } from './b.ts'"],
    ['the files that plugins share', 'plugins/a/a.ts', "import { b } from '../shared/b.ts'"],
  ])('accepts %s', (_what, path, text) => {
    expect(violations([{ path, text }])).toEqual([])
  })

  test('finds a cycle through the entry of a package and through type imports', () => {
    const a = { path: `${core}/a.ts`, text: "import { b } from './b.ts'" }
    const b = { path: `${core}/b.ts`, text: "export { c } from '@grantry/c'" }
    const c = { path: 'packages/c/src/index.ts', text: "import { type A } from '../../core/src/a.ts'" }
    const packageC = new Map([['@grantry/c', c.path]])
    expect(findCycle([a, b, c], packageC)).toEqual([a.path, b.path, c.path, a.path])
    const erased = { ...c, text: c.text.replace('{ type A }', 'type { A }') }
    expect(findCycle([a, b, erased], packageC)).toEqual([a.path, b.path, c.path, a.path])
    expect(findCycle([a, b, { ...c, text: '' }], packageC)).toBeUndefined()
  })
})
