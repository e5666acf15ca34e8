import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bridge, findCycle, folderOf, serverHome, serverLayers, siblings, violations } from './import-rules.ts'
import { importsOf } from './imports-of.ts'
import { packages, programs, root, sources } from './source-files.ts'

// Checks every import of every source file against the import rules.

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
  test('of core, plugins, storage drivers, adapters, resource server and server are allowed', () => {
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
    expect(entries.get('@grantry/testing')).toBe('packages/testing/src/index.ts')
  })
})

describe('the import check', () => {
  const core = 'packages/core/src'
  const server = 'packages/server/src'
  test.each([
    ['a package that the core must not import', `${core}/router.ts`, "import fs from 'node:fs'"],
    ['a type of such a package', `${core}/options.ts`, "import type { Storage } from 'unstorage'"],
    ['jose outside its folders', `${core}/endpoints/token.ts`, "import { jwtVerify } from 'jose'"],
    ['more than types of jose', `${core}/keys/import-key.ts`, "import { exportJWK } from 'jose/key/export'"],
    ['a part of jose outside its folders', `${core}/endpoints/token.ts`, "import { jwtVerify } from 'jose/jwt/verify'"],
    ['hashing outside the runtime', `${core}/json.ts`, "import { sha256 } from '@noble/hashes/sha2.js'"],
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
      "import { a } from '../credentials/methods.ts'",
    ],
    ['the test kit in the core', `${core}/provider.ts`, "import { read } from '@grantry/testing'"],
    ['an internal file of the core in the test kit', 'packages/testing/src/a.ts', "import '../../core/src/types.ts'"],
    ['a driver in the test kit', 'packages/testing/src/a.ts', "import '@grantry/storage-drivers/memory'"],
    ['Node.js in the kit for plugins', 'packages/testing/src/a.ts', "import 'node:fs'"],
    ['the proofs for drivers in the kit for plugins', 'packages/testing/src/a.ts', "import './drivers/index.ts'"],
    ['a file outside every layer', `${core}/misc/a.ts`, "import { isObject } from '../json.ts'"],
    ['an internal file of the core in a plugin', 'plugins/a/a.ts', "import { utf8 } from '@grantry/core/encoding'"],
    ['an internal file of another plugin', 'plugins/a/a.ts', "import { b } from '../b/c.ts'"],
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
    [
      'an internal file of the authorization endpoint in its features',
      'plugins/sign-in/a.ts',
      "import { b } from '../authorization-endpoint/b.ts'",
    ],
    [
      'a value of a plugin in the pages',
      'packages/pages/src/a.ts',
      "import { clientView } from '@grantry/plugins/sign-in'",
    ],
    ['a file of a plugin in the pages', 'packages/pages/src/a.ts', "import type { A } from '../../../plugins/a/b.ts'"],
    ['a command in the server', `${server}/server.ts`, "import { a } from './commands/serve.ts'"],
    ['a type of such a command', `${server}/server.ts`, "import type { A } from './commands/serve.ts'"],
    ['the administration in the configuration', `${server}/configuration/a.ts`, "import '../administration/a.ts'"],
    ['the configuration in the observability', `${server}/observability/a.ts`, "import '../configuration/a.ts'"],
    [
      'the demo in the administration, which has the same floor',
      `${server}/administration/a.ts`,
      "import '../demo/a.ts'",
    ],
    ['a folder of the server outside every layer', `${server}/commands/a.ts`, "import '../misc/a.ts'"],
    ['any import of a package without rules', 'packages/new/src/a.ts', "import 'node:fs'"],
  ])('rejects %s', (_what, path, text) => {
    expect(violations([{ path, text }])).toHaveLength(1)
  })

  test.each([
    ['a comment', `${core}/router.ts`, "// import fs from 'node:fs'\n/* import('ioredis') */"],
    ['types of a sibling', `${core}/keys/a.ts`, "import type { A } from '../credentials/methods.ts'"],
    ['a layer below', `${core}/endpoints/a.ts`, "import { keyOf } from '../records/keys.ts'"],
    ['types of the core in a driver', 'packages/storage-drivers/src/a.ts', "import type { A } from '@grantry/core'"],
    ['Node.js in the HTTP bridge', `${bridge}a.ts`, "import { isIP } from 'node:net'\nimport { a } from './a.ts'"],
    ['an entry of the HTTP bridge', 'packages/adapters/src/a.ts', "import { serve } from './http-bridge/index.ts'"],
    ['the view of a page in the pages', 'packages/pages/src/a.ts', "import type { A } from '@grantry/plugins/account'"],
    ['the configuration in the administration', `${server}/administration/a.ts`, "import '../configuration/a.ts'"],
    ['jose in a plugin', 'plugins/a/a.ts', "import { jwtVerify } from 'jose/jwt/verify'"],
    ['Node.js in the proofs for drivers', 'packages/testing/src/drivers/a.ts', "import 'node:child_process'"],
    ['its own folder in a plugin', 'plugins/a/a.ts', "import { b } from './b.ts'"],
    ['the files that plugins share', 'plugins/a/a.ts', "import { b } from '../shared/b.ts'"],
    [
      'what another plugin exports',
      'plugins/sign-in/a.ts',
      "import { b } from '../authorization-endpoint/authorization-endpoint.ts'",
    ],
  ])('accepts %s', (_what, path, text) => {
    expect(violations([{ path, text }])).toEqual([])
  })

  test('accepts an import of each lower layer of the server, and rejects that of each higher one', () => {
    const files = sources
      .filter(({ path }) => path.startsWith(serverHome))
      .map(({ path }) => path.slice(serverHome.length))
    // One file of each unit, with the number of its layer.
    const units = serverLayers.flatMap((layer, floor) =>
      layer.map((unit) => ({ floor, file: files.find((path) => unit.test(path)) ?? `no file in ${unit}` })),
    )
    const refused = (from: string, to: string, type: string): number =>
      violations([{ path: serverHome + from, text: `import ${type}'./${posix.relative(posix.dirname(from), to)}'` }])
        .length
    for (const from of units) {
      for (const to of units) {
        if (from === to) continue
        const expected = from.floor < to.floor ? 0 : 1
        for (const type of ['', 'type {} from '])
          expect([from, to, refused(from.file, to.file, type)]).toEqual([from, to, expected])
      }
    }
  })

  test('of the server is the list in CONTRIBUTING.md', () => {
    const nameOf = (unit: RegExp): string => /[a-z][a-z-]+/u.exec(unit.source)?.[0] ?? ''
    const list = serverLayers.map((layer) => layer.map(nameOf).join(', ')).join(' → ')
    const written = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').replaceAll(/\s+/gu, ' ')
    expect(written).toContain(` ${list} `)
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
