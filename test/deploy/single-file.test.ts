import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runProgram } from '../support/program.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { startRedis } from '../support/redis-server.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { root, singleFile } from './single-file.ts'
import { type StartedServer, startServer } from './started-server.ts'

// `grantry.mjs` alone in an empty directory outside of the repository, to prove that it needs no other file.

// Each wait reports what it was waiting for.

let program = ''
const running: { stop(): Promise<unknown> }[] = []

beforeAll(async () => {
  program = await singleFile()
})

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()))
})

const directories: string[] = []
afterAll(() => Promise.all(directories.map((path) => rm(path, { recursive: true, force: true }))))

/** Returns a new directory with nothing but `grantry.mjs` and these files. */
async function alone(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-alone-'))
  directories.push(directory)
  await cp(program, join(directory, 'grantry.mjs'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return directory
}

async function start(directory: string): Promise<StartedServer> {
  const server = await startServer([process.execPath, 'grantry.mjs'], { cwd: directory })
  running.push(server)
  return server
}

async function post(url: string, form: Record<string, string>, by: readonly [string, string]): Promise<unknown> {
  const authorization = basic(by)
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) })
  return response.json()
}

const clientCredentials = { grant_type: 'client_credentials', scope: 'api1' }

const client = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['client_credentials', 'urn:example:hello'],
  scopes: ['api1'],
  accessTokenFormat: 'reference',
}
const scopes = [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }]
const issuer = 'https://id.example.com'

const helloGrant = `
import { defineGrant } from '@grantry/core'
import * as v from 'valibot'
export default () => defineGrant({
  grantType: 'urn:example:hello',
  params: v.object({ name: v.string() }),
  handle: ({ params, scopes }) => ({ subject: { sub: params.name, amr: ['hello'] }, scopes }),
})
`
const moduleConfiguration = (types: string): string => `
import { defineConfig } from 'grantry'
const configuration = ${JSON.stringify({ issuer, storage: { driver: 'memory' }, clients: [client], scopes, plugins: ['./hello.mjs'] })}${types}
export default defineConfig(configuration)
`

describe('grantry.mjs', () => {
  test('prints the version of its package, and contains no path of the build machine', async () => {
    const directory = await alone()
    const { version } = JSON.parse(await readFile(`${root}/packages/server/package.json`, 'utf8'))
    const asked = runProgram([process.execPath, 'grantry.mjs', '--version'], { cwd: directory })
    expect(await asked.ended).toBe(0)
    expect(asked.output().out).toBe(`${version}\n`)
    expect(await readFile(program, 'utf8')).not.toContain(root)
  })

  test('includes the licence of every bundled package', async () => {
    const text = await readFile(program, 'utf8')
    const licences = text.slice(text.lastIndexOf('/*!'))
    for (const name of ['@noble/hashes', 'commander', 'denque', 'ioredis', 'jiti', 'jose', 'jsonc-parser', 'valibot']) {
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((?:MIT|Apache-2\\.0)\\)$`, 'mu'))
    }
    expect(licences).toContain('Apache License')
    expect(licences).toContain(await readFile(`${root}/LICENSE`, 'utf8').then((licence) => licence.trim()))
  })

  test('is smaller than 6.5 MB, a third of which supports TypeScript configurations', async () => {
    expect((await stat(program)).size).toBeLessThan(6_500_000)
  })

  test('serves the demo: issues a token, introspects it and exits with 0', async () => {
    const server = await start(await alone())
    const { access_token: token } = (await post(`${server.url}/connect/token`, clientCredentials, [
      'demo',
      'demo-secret',
    ])) as { access_token: string }
    expect(await post(`${server.url}/connect/introspect`, { token }, ['api1', 'api1-secret'])).toMatchObject({
      active: true,
      client_id: 'demo',
    })
    expect(await server.stop()).toBe(0)
  })

  test('includes the plugins, by name and for modules', async () => {
    const directory = await alone({
      'grantry.config.mjs': `
import { jwtBearer } from '@grantry/plugins/jwt-bearer'
import { tokenExchange } from '@grantry/plugins/token-exchange'
const jwksUri = 'https://idp.example.com/jwks'
export default {
  ...${JSON.stringify({ issuer, storage: { driver: 'memory' }, clients: [], scopes })},
  plugins: [
    { name: 'client-assertion' },
    { name: 'jwt-introspection' },
    jwtBearer({ issuers: [{ issuer: 'https://idp.example.com', jwksUri }] }),
    tokenExchange({ allow: () => false }),
  ],
}`,
    })
    const server = await start(directory)
    expect(await (await fetch(`${server.url}/.well-known/openid-configuration`)).json()).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      grant_types_supported: expect.arrayContaining([
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        'urn:ietf:params:oauth:grant-type:token-exchange',
      ]),
    })
    expect(await server.stop()).toBe(0)
  })

  test('reports an invalid configuration in one line', async () => {
    const directory = await alone({ 'grantry.config.json': JSON.stringify({ issuer, client: [] }) })
    const wrong = runProgram([process.execPath, 'grantry.mjs', 'serve', '--log-format', 'text'], {
      cwd: directory,
    })
    expect(await wrong.ended).toBe(1)
    expect(wrong.output()).toEqual({ out: '', err: expect.stringMatching(/^grantry: .*client.*\n$/u) })
    expect(wrong.output().err).toContain(join(directory, 'grantry.config.json'))
  })

  test('names a package that is neither installed nor bundled', async () => {
    const directory = await alone({ 'grantry.config.mjs': "import 'a-missing-package'\nexport default {}\n" })
    const wrong = runProgram([process.execPath, 'grantry.mjs', 'serve', '--log-format', 'text'], {
      cwd: directory,
    })
    expect(await wrong.ended).toBe(1)
    expect(wrong.output().err).toMatch(/^grantry: [^\n]*a-missing-package[^\n]*\n/u)
  })
})

describeWithRedis('grantry.mjs with Redis', () => {
  test('keeps tokens across restarts', async () => {
    const redis = await startRedis()
    running.push(redis)
    const storage = { driver: 'redis', url: redis.url }
    const clients = [{ ...client, grantTypes: ['client_credentials'] }]
    const directory = await alone({ 'grantry.config.json': JSON.stringify({ issuer, storage, clients, scopes }) })
    const first = await start(directory)
    const { access_token: token } = (await post(`${first.url}/connect/token`, clientCredentials, [
      'web',
      'web-secret',
    ])) as { access_token: string }
    expect(await first.stop()).toBe(0)
    const second = await start(directory)
    expect(await post(`${second.url}/connect/introspect`, { token }, ['api1', 'api1-secret'])).toMatchObject({
      active: true,
    })
    expect(await second.stop()).toBe(0)
  })
})

const runtimes: readonly (readonly [name: string, executable: string, ...parameters: string[]])[] = [
  ['Node.js', process.execPath],
  ['Node.js 22', runtimeExecutable('node22/bin/node')],
  ['Node.js 24', runtimeExecutable('node24/bin/node')],
  ['Bun', runtimeExecutable('.bin/bun')],
  ['Deno', runtimeExecutable('.bin/deno'), 'run', '-A'],
]
for (const [name, executable, ...parameters] of runtimes) {
  describeWithRuntime(`grantry.mjs on ${name}`, executable, () => {
    // `grantry`, `@grantry/core` and `valibot` come from the file: there is no node_modules.
    test.each([
      ['mjs', ''],
      ['ts', ' satisfies object'],
    ])('loads a module configuration in .%s with a plugin', async (ending, types) => {
      const files = { 'hello.mjs': helloGrant, [`grantry.config.${ending}`]: moduleConfiguration(types) }
      const directory = await alone(files)
      const temporary = join(directory, 'temporary')
      await mkdir(temporary)
      const where = { cwd: directory, environment: { TMPDIR: temporary } }
      const server = await startServer([executable, ...parameters, 'grantry.mjs'], where)
      try {
        const form = { grant_type: 'urn:example:hello', name: 'dave', scope: 'api1' }
        expect(await post(`${server.url}/connect/token`, form, ['web', 'web-secret'])).toMatchObject({ scope: 'api1' })
      } finally {
        expect(await server.stop()).toBe(0)
      }
      // Code that is cached in a world-writable directory would let other users run their own code.
      if (name === 'Node.js') expect(await readdir(temporary)).toEqual([])
    })
  })
}
