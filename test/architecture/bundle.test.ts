import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildResult, build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'

// What a Worker gets of `import '@grantry/core'`: web standards, and nothing of a server.

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const never = ['node:', 'unstorage', 'ioredis', 'hattip'] as const

const bundle = (contents: string) =>
  build({
    stdin: { contents, resolveDir: join(root, 'packages/core'), loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    platform: 'neutral',
    format: 'esm',
    target: 'es2022',
    conditions: ['@grantry/source', 'browser', 'import', 'default'],
    mainFields: ['module', 'main'],
    write: false,
    metafile: true,
    logLevel: 'silent',
  })

type Bundle = BuildResult<{ write: false; metafile: true }>

const textOf = ({ outputFiles }: Bundle): string => outputFiles.map(({ text }) => text).join('\n')

/** What is in a bundle and may not be. */
const strangers = ({ metafile }: Bundle): readonly string[] =>
  Object.keys(metafile.inputs).filter(
    (path) => !/^(?:packages\/core\/src\/|node_modules\/(?:jose|valibot|@noble\/hashes)\/|<stdin>$)/u.test(path),
  )

describe('the bundle of the core', () => {
  let result: Bundle

  beforeAll(async () => {
    result = await bundle("export * from './src/index.ts'")
  })

  test('is built from its own files, jose, valibot and @noble/hashes alone', () => {
    expect(strangers(result)).toEqual([])
    expect(Object.keys(result.metafile.inputs)).toContain('packages/core/src/provider.ts')
  })

  test('imports nothing when it runs', () => {
    expect(Object.values(result.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
  })

  test.each(never)('does not hold %s', (name) => {
    expect(textOf(result)).toContain('createProvider')
    expect(textOf(result)).not.toContain(name)
    expect(Object.keys(result.metafile.inputs).join('\n')).not.toContain(name)
  })

  test('has no warnings', () => {
    expect(result.warnings).toEqual([])
  })

  test('leaves the kit for tests out', () => {
    expect(Object.keys(result.metafile.inputs).filter((path) => path.includes('/testing/'))).toEqual([])
  })

  test('leaves out what is not used: one name does not cost the whole', async () => {
    const small = await bundle("export { isOAuthError } from './src/index.ts'")
    expect(textOf(small)).not.toContain('createProvider')
    expect(textOf(small).length).toBeLessThan(textOf(result).length / 20)
  })
})

describe('the check of the bundle notices', () => {
  test('a module of Node.js, which does not even resolve', async () => {
    await expect(bundle("import 'node:fs'; export * from './src/index.ts'")).rejects.toThrow(/node:fs/u)
  })

  test('a package that the core may not have', async () => {
    const built = await bundle("export { createStorage } from 'unstorage'")
    expect(strangers(built)).not.toEqual([])
    expect(Object.keys(built.metafile.inputs).join('\n')).toContain('unstorage')
  })
})
