import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'

// A Worker that imports '@grantry/core' or '@grantry/resource-server' gets a bundle that uses web standards only.

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const never = ['node:', 'unstorage', 'ioredis', 'hattip'] as const

const bundle = (contents: string, options: Pick<BuildOptions, 'minify' | 'external' | 'plugins'> = {}) =>
  build({
    ...options,
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

/** Returns the inputs that the bundle must not include. */
const foreignModules = ({ metafile }: Bundle): readonly string[] =>
  Object.keys(metafile.inputs).filter(
    (path) => !/^(?:packages\/core\/src\/|node_modules\/(?:jose|valibot|@noble\/hashes)\/|<stdin>$)/u.test(path),
  )

describe('the bundle of the core', () => {
  let result: Bundle

  beforeAll(async () => {
    result = await bundle("export * from './src/index.ts'")
  })

  test('includes only its own files, jose, valibot and @noble/hashes', () => {
    expect(foreignModules(result)).toEqual([])
    expect(Object.keys(result.metafile.inputs)).toContain('packages/core/src/provider.ts')
  })

  test('has no imports left', () => {
    expect(Object.values(result.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
  })

  test.each(never)('does not contain %s', (name) => {
    expect(textOf(result)).toContain('createProvider')
    expect(textOf(result)).not.toContain(name)
    expect(Object.keys(result.metafile.inputs).join('\n')).not.toContain(name)
  })

  test('has no warnings', () => {
    expect(result.warnings).toEqual([])
  })

  test('does not include the testing kit', () => {
    expect(Object.keys(result.metafile.inputs).filter((path) => path.includes('/testing/'))).toEqual([])
  })

  test('supports tree shaking: importing one name does not include everything', async () => {
    const small = await bundle("export { isOAuthError } from './src/index.ts'")
    expect(textOf(small)).not.toContain('createProvider')
    expect(textOf(small).length).toBeLessThan(textOf(result).length / 20)
  })
})

describe('the bundle of a provider with two grants', () => {
  let included: readonly string[]
  let code: string

  beforeAll(async () => {
    const built = await bundle("export { default } from '../../bench/programs/worker.ts'", { minify: true })
    const { metafile } = built
    code = textOf(built)
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
    included = inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []))
  })

  test.each([
    'credentials/passwords.ts',
    'credentials/password-check.ts',
    'abuse/password-limits.ts',
    'abuse/waiting-limit.ts',
    'grants/authorizations.ts',
    'grants/open-authorization.ts',
    'grants/plugin-seal.ts',
    'grants/grant-check-kind.ts',
    'grants/failed-proofs.ts',
    'parts/endpoint-kind.ts',
    'parts/error-page.ts',
    'parts/reply.ts',
    'parts/html-policy.ts',
    'parts/fields-kind.ts',
    'parts/plugin-metadata.ts',
    'parts/token-binding-kind.ts',
    'parts/key-proofs.ts',
    'parts/response-format-kind.ts',
  ])('does not include %s, which only other plugins need', (path) => {
    expect(included).toContain('packages/core/src/provider.ts')
    expect(existsSync(join(root, 'packages/core/src', path))).toBe(true)
    expect(included).not.toContain(`packages/core/src/${path}`)
  })

  // The figure is in docs/measurements.md (73).
  test('has less than 68.5 kB, gzipped', () => {
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(68_500)
  })

  test('does not include it in the published form either, where the core is one file', async () => {
    const core = await bundle("export * from './src/index.ts'", { external: ['valibot', '@noble/*', 'jose'] })
    const published: Plugin = {
      name: 'published-core',
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^@grantry\/core$/ }, ({ path }) => ({ path, namespace: 'published', sideEffects: false }))
        onLoad({ filter: /.*/, namespace: 'published' }, () => ({ contents: textOf(core), resolveDir: root }))
      },
    }
    const program = await bundle("export { default } from '../../bench/programs/worker.ts'", { plugins: [published] })
    expect(textOf(core)).toContain('createPasswordCheck')
    expect(textOf(program)).toContain('createProvider')
    for (const name of ['createPasswordCheck', 'createAuthenticateUser', 'createAuthorizations', 'createOpenRequest']) {
      expect(textOf(program)).not.toContain(name)
    }
    // What a schema of a capability contains.
    expect(textOf(program)).not.toMatch(/acrValues|omitsRedirectUri|credentialHash/u)
  })

  test('does not include a SHA-512, which the platform has', () => {
    // The first constant of SHA-256, and of SHA-512.
    expect(code).toMatch(/\b(?:0x428a2f98|1116352408)\b/iu)
    expect(code).not.toMatch(/428a2f98d728ae22/iu)
  })
})

describe('the bundle of the resource server', () => {
  test.each(['index', 'hono'])('of %s is small, and includes only its own files and jose', async (entry) => {
    const result = await bundle(`export * from '../resource-server/src/${entry}.ts'`, { minify: true })
    const expectedInputs = /^(?:packages\/resource-server\/src\/|node_modules\/jose\/|<stdin>$)/u
    expect(Object.keys(result.metafile.inputs).filter((path) => !expectedInputs.test(path))).toEqual([])
    expect(Object.values(result.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
    expect(result.warnings).toEqual([])
    expect(gzipSync(textOf(result)).length).toBeLessThan(18_500)
  })
})

describe('the bundle of pages', () => {
  test.each([
    ['English only', "createPages({ locales: ['en'] })", ['en']],
    ['another language', "createPages({ locales: ['de'], languages: { de } })", ['de', 'en']],
  ])('with %s includes the texts of no other', async (_what, pages, languages) => {
    const imports =
      "import { createPages } from '../pages/src/index.ts'; import { de } from '../pages/src/languages.ts'"
    const { metafile } = await bundle(`${imports}; export default ${pages}`)
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
    const used = inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []))
    expect(used.flatMap((path) => /\/texts\/([\w-]+)\.json$/u.exec(path)?.[1] ?? []).sort()).toEqual(languages)
  })
})

describe('the bundle of a plugin that sends requests', () => {
  test.each(['client-assertion', 'mtls', 'jwt-bearer', 'token-exchange', 'back-channel-logout'])(
    '%s has no imports left, also of modules of Node.js',
    async (name) => {
      const result = await bundle(`export * from '../../plugins/${name}/${name}.ts'`)
      expect(Object.values(result.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
      expect(result.warnings).toEqual([])
    },
  )
})

describe('the bundle check', () => {
  test('rejects a module of Node.js, which does not resolve', async () => {
    await expect(bundle("import 'node:fs'; export * from './src/index.ts'")).rejects.toThrow(/node:fs/u)
  })

  test('rejects a package that the core must not include', async () => {
    const built = await bundle("export { createStorage } from 'unstorage'")
    expect(foreignModules(built)).not.toEqual([])
    expect(Object.keys(built.metafile.inputs).join('\n')).toContain('unstorage')
  })
})
