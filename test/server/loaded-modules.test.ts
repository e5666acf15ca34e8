import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sha256Of } from '@grantry/testing'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashFunctionsDefine } from '../../scripts/hash-functions.js'
import { linkPackages } from '../support/bundle-with-packages.ts'
import { newDirectory } from '../support/directory.ts'

const source = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const directory = newDirectory()
const log = join(directory, 'loaded.txt')
/** The sources in each file of the program. A file has what the same entries import, so all of it is needed or nothing. */
const sourcesIn = new Map<string, readonly string[]>()

const entry = `
import { main } from ${JSON.stringify(source('packages/server/src/cli.ts'))}
process.exitCode = await main(process.argv.slice(2))`

const hooks = `
import { appendFileSync } from 'node:fs'
import { register } from 'node:module'
const load = "import { appendFileSync } from 'node:fs'; export function load(url, context, next) {"
  + " appendFileSync(process.env.LOADED, url + '\\\\n'); return next(url, context) }"
register('data:text/javascript,' + encodeURIComponent(load))`

beforeAll(async () => {
  await linkPackages(directory)
  writeFileSync(join(directory, 'hooks.mjs'), hooks)
  const { metafile } = await build({
    stdin: { contents: entry, resolveDir: source('packages/server') },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@grantry/source'],
    mainFields: ['module', 'main'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    define: { grantryVersion: '"0.0.0"', ...hashFunctionsDefine() },
    logLevel: 'error',
  })
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) sourcesIn.set(basename(file), Object.keys(inputs))
})

/** Runs a command, a server until it listens, and returns the sources that it loads. */
async function loadedBy(commandLine: readonly string[], configuration: object): Promise<readonly string[]> {
  writeFileSync(log, '')
  writeFileSync(join(directory, 'grantry.config.json'), JSON.stringify(configuration))
  const program = ['--import', join(directory, 'hooks.mjs'), join(directory, 'stdin.mjs'), ...commandLine]
  const running = promisify(execFile)(process.execPath, program, {
    cwd: directory,
    env: { ...process.env, LOADED: log },
  })
  running.child.stderr?.on('data', (text: unknown) => {
    if (String(text).includes('listening on')) running.child.kill('SIGTERM')
  })
  await running
  const files = readFileSync(log, 'utf8').split('\n')
  return files.flatMap((file) => sourcesIn.get(basename(file)) ?? [])
}

const minimal = {
  issuer: 'http://localhost:9400',
  administration: true,
  clients: [],
  storage: { driver: 'filesystem' },
}

const operator = {
  clientId: 'ops',
  secrets: [{ sha256: sha256Of('secret of ops') }],
  grantTypes: ['client_credentials'],
  scopes: ['admin'],
}

/** What starts without a reason to load it, in each folder that it is in. */
const clientLibraries = ['pg', 'ioredis', 'ldapts', 'nodemailer', 'jiti', 'openid-client', '@simplewebauthn']
const libraries = [...clientLibraries, '@opentelemetry', '@hattip'].map((name) => `node_modules/${name}/`)
/** What a command or a server needs for an import, for hashing, or for a configuration with comments. */
const rare = [
  'packages/administration/src/import/',
  'packages/users/src/password-hash/hash-',
  'node_modules/jsonc-parser/',
]
/** A configuration names them, in `sign-in` and others. */
const pagePlugins = ['account', 'authorization-endpoint', 'self-service', 'sign-in', 'upstream'].map(
  (name) => `plugins/${name}/`,
)
const pages = ['packages/pages/']
const allPlugins = ['plugins/']
const otherPlugins = [
  'account',
  'client-assertion',
  'client-metadata',
  'id-jag',
  'passkeys',
  'registration',
  'workload-identity',
].map((name) => `plugins/${name}/`)

describe('the modules of a start', () => {
  it.each([
    [
      '--version',
      ['--version'],
      {},
      ['node_modules/', 'packages/core/', 'packages/administration/', ...pages, ...allPlugins],
    ],
    [
      'a command that asks the storage',
      ['clients', 'list'],
      {},
      [
        ...[
          ...libraries,
          ...pages,
          ...allPlugins,
          ...rare,
          'node_modules/jose/',
          'node_modules/@noble/hashes/argon2.js',
        ],
        ...['packages/server/src/doctor/', 'packages/administration/src/api/'],
      ],
    ],
    [
      'a provider with two plugins',
      ['keys', 'list'],
      { plugins: [{ name: 'dpop' }, { name: 'mtls' }] },
      [...libraries, ...pages, ...otherPlugins, ...pagePlugins, ...rare],
    ],
    [
      'a server without pages',
      ['serve', '--port', '0', '--log-format', 'json'],
      { storage: { driver: 'memory' } },
      [...clientLibraries, '@opentelemetry', 'jose']
        .map((name) => `node_modules/${name}/`)
        .concat(pages, otherPlugins, pagePlugins, rare, ['plugins/shared/']),
    ],
    [
      'a server with the admin API and without pages',
      ['serve', '--port', '0', '--log-format', 'json'],
      { storage: { driver: 'memory' }, clients: [operator], plugins: [{ name: 'admin', clients: ['ops'] }] },
      [...clientLibraries, '@opentelemetry', 'jose']
        .map((name) => `node_modules/${name}/`)
        .concat(pages, otherPlugins, pagePlugins, rare, ['plugins/shared/']),
    ],
  ] as const)('are only those that it needs: %s', async (_, commandLine, more, forbidden) => {
    const loaded = await loadedBy(commandLine, { ...minimal, ...more })
    expect(loaded).toContainEqual(expect.stringMatching(/packages\/server\/src\/cli\.ts$/u))
    expect(loaded.filter((path) => forbidden.some((part) => path.includes(part)))).toEqual([])
  })
})
