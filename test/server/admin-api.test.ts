// The admin API in the ready server: named in the configuration, over a socket, with its own provider.
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { output } from '../observability/log-output.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

const ops: Credentials = ['ops', 'ops-secret']
const directory = mkdtempSync(join(tmpdir(), 'grantry-admin-'))
const content = {
  issuer: 'https://id.example.com',
  storage: { driver: 'memory' },
  administration: true,
  clients: [
    {
      clientId: ops[0],
      secrets: [{ sha256: sha256Of(ops[1]) }],
      grantTypes: ['client_credentials'],
      scopes: ['admin', 'admin:read'],
    },
  ],
  scopes: [{ name: 'api1' }],
  plugins: [{ name: 'admin', clients: ['ops'] }],
}
const loadedWith = (more: object = {}) => ({
  configuration: parseConfiguration(configurationSchema, { ...content, ...more }, ''),
  file: 'grantry.config.json',
  directory,
})

let server: GrantryServer
const out = output()
const log = createLog(out, { level: 'info', routeOf: (name) => server.provider.paths[name] })

beforeAll(async () => {
  server = await startServer({ loaded: loadedWith(), port: 0, observe: (event) => log.observe(event) })
})
afterAll(async () => {
  await server.close(0)
  rmSync(directory, { recursive: true, force: true })
})

async function tokenOf(credentials: Credentials, scope: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.running.port}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(credentials) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  })
}

/** Sends a path as it is: `fetch` would resolve dot segments. */
async function send(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
  const { access_token: token } = (await (await tokenOf(ops, 'admin')).json()) as { access_token: string }
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const sent = httpRequest({
      method,
      path: `/admin/v1${path}`,
      port: server.running.port,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      })
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

test('a client that was added gets a token, until it is disabled', async () => {
  const batch = { clientId: 'batch/nightly', grantTypes: ['client_credentials'], scopes: ['api1'] }
  const added = await send('POST', '/clients', batch)
  expect(added.status).toBe(201)
  const { secret } = JSON.parse(added.body)
  expect((await tokenOf(['batch/nightly', secret], 'api1')).status).toBe(200)
  const path = '/clients/batch%2Fnightly'
  const { headers, status } = await send('HEAD', path)
  expect([status, headers.etag]).toEqual([200, added.headers.etag])
  const change = { 'if-match': String(headers.etag) }
  expect((await send('PATCH', path, { enabled: false }, change)).status).toBe(200)
  expect((await send('PATCH', path, { enabled: true }, change)).status).toBe(412)
  const { items } = JSON.parse((await send('GET', '/audit')).body)
  expect(items).toMatchObject([
    { action: 'client_changed', id: 'batch/nightly', who: 'client:ops', from: '127.0.0.1' },
    { action: 'client_added' },
  ])
})

test.each(['/clients/..', '/clients/../clients', '/./clients', '//clients', '/clients/%2e%2e', '/clients/%00'])(
  'there is nothing at %s',
  async (path) => {
    expect((await send('GET', path)).status).toBe(404)
  },
)

test('has signing keys that can be rotated, once the next one is known', async () => {
  const keys = JSON.parse((await send('GET', '/keys')).body).items
  expect(keys.length).toBeGreaterThan(0)
  const refused = await send('POST', '/keys/rotate', {})
  expect([refused.status, refused.headers['content-type']]).toEqual([409, 'application/problem+json'])
  expect((await send('POST', '/keys/rotate', { force: true })).status).toBe(200)
  expect((await send('POST', '/keys/unknown/retire', {})).status).toBe(404)
})

test('the path of a request is in no log line and no metric', async () => {
  await send('GET', '/clients/secret-looking-id')
  const metrics = await fetch(`http://127.0.0.1:${server.running.port}/metrics`)
  const text = await metrics.text()
  expect(text).toMatch(/endpoint="admin"/u)
  for (const shown of [text, out.lines.join()]) expect(shown).not.toContain('secret-looking-id')
})

test('does not start without entries in the storage, or with a mistyped option', async () => {
  const start = (more: object) => startServer({ loaded: loadedWith(more), port: 0, observe: () => {} })
  await expect(start({ administration: false })).rejects.toThrow('set "administration": true')
  expect(() => loadedWith({ plugins: [{ name: 'admin', client: ['ops'] }] })).toThrow('did you mean clients?')
  expect(() => loadedWith({ plugins: [{ name: 'admin', clients: [] }] })).toThrow('must name at least one client')
})
