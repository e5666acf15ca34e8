import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import {
  exampleFolders,
  exampleStarts,
  examplesPath,
  missingForExamples,
  missingRuntime,
  root,
} from './example-folders.ts'
import { type RunningExample, startExample } from './running-example.ts'

// Starts every example with exactly the commands of its README, and sends requests to it.

const basic = (name: string, secret: string) => ({ authorization: `Basic ${btoa(`${name}:${secret}`)}` })
const demo = basic('demo', 'demo-secret')
const api1 = basic('api1', 'api1-secret')
const missing = missingForExamples()

describe('the folder of examples', () => {
  test('has exactly the examples that the README lists', () => {
    expect(exampleFolders).toEqual([
      'bun-serve',
      'cloudflare-worker',
      'deno-serve',
      'elysia-bun',
      'express',
      'express-login',
      'fastify',
      'hono',
      'koa',
      'mcp-server',
      'node-http',
      'protected-api',
      'route-handler',
    ])
    const table = readFileSync(`${examplesPath}/README.md`, 'utf8')
    for (const folder of exampleFolders) expect(table).toContain(`](${folder}/`)
  })

  test.each(exampleFolders)('%s has start commands in its README', (folder) => {
    expect(exampleStarts.filter((start) => start.folder === folder).length).toBeGreaterThan(0)
  })

  test.each(exampleFolders)('%s has at most 60 lines in each file', (folder) => {
    const files = readdirSync(`${examplesPath}/${folder}`, { recursive: true, encoding: 'utf8' })
    const sources = files.filter((name) => name.endsWith('.ts') && !name.includes('dist/'))
    expect(sources).not.toEqual([])
    for (const name of sources) {
      expect(readFileSync(`${examplesPath}/${folder}/${name}`, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(
        60,
      )
    }
  })
})

describeWith(missing, 'the types of the examples', () => {
  test('match the built packages', async () => {
    const tsc = `${root}node_modules/.bin/tsc`
    const { stdout } = await promisify(execFile)(tsc, ['-p', examplesPath]).catch((error) => error)
    expect(stdout).toBe('')
  })
})

for (const { title, commands } of exampleStarts) {
  describeWith(missing ?? missingRuntime(commands), `${title}, started with these commands`, () => {
    let example: RunningExample
    let stopped = true
    const send = (path: string, init: RequestInit = {}) => fetch(`${example.base}${path}`, init)
    const post = (path: string, headers: Record<string, string>, form: Record<string, string>) =>
      send(path, { method: 'POST', headers, body: new URLSearchParams(form) })

    beforeAll(async () => {
      example = await startExample(commands)
      stopped = false
      await example.ready
    })
    afterAll(async () => {
      if (!stopped) await example.stop()
    })

    test('issues, introspects and revokes a token', async () => {
      const issued = await post('/connect/token', demo, { grant_type: 'client_credentials', scope: 'api1' })
      expect(issued.status).toBe(200)
      const { access_token: token } = (await issued.json()) as { access_token: string }
      const introspect = async () => (await post('/connect/introspect', api1, { token })).json()
      expect(await introspect()).toMatchObject({ active: true, client_id: 'demo', scope: 'api1', iss: example.base })
      expect((await post('/connect/revocation', demo, { token })).status).toBe(200)
      expect(await introspect()).toEqual({ active: false })
    })

    test('rejects a wrong secret with invalid_client', async () => {
      const refused = await post('/connect/token', basic('demo', 'wrong'), { grant_type: 'client_credentials' })
      expect(refused.status).toBe(401)
      expect(await refused.json()).toMatchObject({ error: 'invalid_client' })
    })

    test('publishes its discovery document and keys', async () => {
      const discovery = await (await send('/.well-known/openid-configuration')).json()
      expect(discovery).toMatchObject({ issuer: example.base, token_endpoint: `${example.base}/connect/token` })
      const { keys } = await (await send('/.well-known/jwks')).json()
      const key = (kty: string, alg: string) => expect.objectContaining({ kty, alg, use: 'sig' })
      // Those that issue identity tokens have an RSA key, too, and those that store their keys the next one.
      const [, ...more] = keys
      const isOfRsa = ({ kty }: { readonly kty: string }): boolean => kty === 'RSA'
      const expected = more.map((each: { readonly kty: string }) =>
        isOfRsa(each) ? key('RSA', 'RS256') : key('EC', 'ES256'),
      )
      expect(keys).toEqual([key('EC', 'ES256'), ...expected])
    })

    test('leaves other paths to the host', async () => {
      const hello = await send('/hello')
      expect(hello.status).toBe(200)
      expect(await hello.text()).toMatch(/^hello from \S/u)
      expect((await send('/nowhere')).status).toBe(404)
    })

    test('exits when it is stopped, and leaves no process running', async () => {
      stopped = true
      await example.stop()
      await expect(send('/hello')).rejects.toThrow()
    })
  })
}
