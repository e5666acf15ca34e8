// Tenants in the ready server: by path and by host, in the configuration and in the storage, and their administrators.
import { request as httpRequest } from 'node:http'
import { parseConfiguration } from '@grantry/core'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/patient-server.ts'

const ops: Credentials = ['ops', 'ops-secret']
const evilOps: Credentials = ['ops', 'secret-of-evil']
const administrator = ([clientId, secret]: Credentials) => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ['client_credentials'],
  scopes: ['admin'],
})
const web = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}
const content = {
  issuer: 'https://id.example.com',
  storage: { driver: 'memory' },
  administration: true,
  clients: [administrator(ops)],
  plugins: [{ name: 'admin', clients: ['ops'] }],
}
const listed = { name: 'acme', clients: [web], scopes: [{ name: 'api1' }] }
const loadedWith = (more: object) => ({
  configuration: parseConfiguration(configurationSchema, { ...content, ...more }, ''),
  file: 'grantry.config.json',
  directory: '.',
})

const events: ServerEvent[] = []
let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  server = undefined
  events.length = 0
})

async function start(tenants: object, reread: () => object = () => tenants): Promise<GrantryServer> {
  const started = await startServer({
    loaded: loadedWith({ tenants }),
    port: 0,
    observe: (event) => void events.push(event),
    read: async () => loadedWith({ tenants: reread() }),
  })
  server = started
  return started
}

interface Sent {
  readonly status: number
  readonly body: { readonly [name: string]: unknown }
}

function send(path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ method, path, port: server?.running.port, headers })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : {} })
    })
    sent.end(body)
  })
}

const token = (at: string, credentials: Credentials, scope: string, headers = {}) =>
  send(`${at}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(credentials), 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: `grant_type=client_credentials&scope=${scope}`,
  })

async function administrate(at: string, bearer: unknown, method: string, path: string, body?: object, more = {}) {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...more }
  return send(`${at}/admin/v1${path}`, { method, headers, body: body === undefined ? '' : JSON.stringify(body) })
}

const webAt = (at: string, headers = {}) => token(at, ['web', 'secret'], 'api1', headers)

describe('tenants by path', () => {
  test('are served beside the server, whose clients they do not have', async () => {
    await start({ list: [listed] })
    expect((await webAt('/t/acme')).status).toBe(200)
    expect((await webAt('')).status).toBe(401)
    expect((await token('/t/acme', ops, 'admin')).status).toBe(401)
    const { body } = await send('/.well-known/oauth-authorization-server/t/acme')
    expect(body.issuer).toBe('https://id.example.com/t/acme')
    expect((await send('/health/ready')).status).toBe(200)
    expect((await send('/t/acme/metrics')).status).toBe(404)
    expect(events.find(({ type }) => type === 'tenant_opened')).toMatchObject({ tenant: 'acme' })
    expect(events.find(({ type }) => type === 'token_issued')).toMatchObject({ tenant: 'acme' })
  })

  test('change with the configuration, without a restart', async () => {
    const list: object[] = [listed]
    const running = await start({ list: [...list] }, () => ({ list: [...list] }))
    expect((await webAt('/t/acme')).status).toBe(200)
    list.splice(0, 1, { ...listed, name: 'beta' })
    expect((await running.reload()).reloaded).toBe(true)
    await eventually(async () => expect((await webAt('/t/acme')).status).toBe(404))
    expect((await webAt('/t/beta')).status).toBe(200)
  })

  test('need a restart for another prefix', async () => {
    const running = await start({ list: [listed] }, () => ({ list: [listed], prefix: '/realms' }))
    expect((await running.reload()).message).toContain('restart the server to change tenants')
  })

  test('are checked at the start, without being opened', async () => {
    const typo = { ...listed, plugins: [{ name: 'sing-in' }] }
    await expect(start({ list: [listed, { ...typo, name: 'beta' }] })).rejects.toThrow(
      /tenants\.list\[1\] \("[\w.-]+"\): .*name.*did you mean sign-in\?/u,
    )
  })

  test('need keys of their own', async () => {
    const loaded = loadedWith({ tenants: {}, keys: { jwks: 'keys.json' } })
    await expect(startServer({ loaded, port: 0, observe: () => {} })).rejects.toThrow('each needs its own keys')
  })
})

test('tenants by host are found by the header Host only', async () => {
  await start({ by: 'host', list: [{ ...listed, name: 'id.acme.example' }] })
  expect((await webAt('', { host: 'id.acme.example' })).status).toBe(200)
  expect((await webAt('', { host: 'ID.Acme.Example:443' })).status).toBe(200)
  expect((await send('/metrics', { headers: { host: 'id.acme.example' } })).status).toBe(404)
  // The server itself, which knows no client web.
  for (const host of ['127.0.0.1', 'id.example.com']) {
    expect((await webAt('', { host, 'x-forwarded-host': 'id.acme.example' })).status).toBe(401)
  }
  for (const host of ['id.beta.example', 'id.acme.example.']) expect((await webAt('', { host })).status).toBe(404)
})

describe('the admin API', () => {
  const evil = {
    name: 'evil',
    clients: [administrator(evilOps)],
    plugins: [{ name: 'admin', clients: ['ops'] }],
  }

  test('creates, changes and ends tenants', async () => {
    await start({ list: [] })
    const { access_token: bearer } = (await token('', ops, 'admin')).body
    const created = await administrate('', bearer, 'POST', '/tenants', { name: 'beta' })
    expect([created.status, created.body]).toMatchObject([201, { name: 'beta' }])
    expect((await administrate('', bearer, 'POST', '/tenants', { name: 'beta' })).status).toBe(409)
    expect((await administrate('', bearer, 'POST', '/tenants', { name: 'Be/ta' })).status).toBe(400)
    const plugins = [{ name: 'sign-in', aces: 1 }]
    expect((await administrate('', bearer, 'POST', '/tenants', { name: 'gamma', plugins })).status).toBe(400)
    await eventually(async () => expect((await send('/t/beta/.well-known/jwks')).status).toBe(200))
    const { version } = (await administrate('', bearer, 'GET', '/tenants/beta')).body
    const match = { 'if-match': `"${version}"` }
    expect((await administrate('', bearer, 'DELETE', '/tenants/beta', undefined, match)).status).toBe(204)
    await eventually(async () => expect((await send('/t/beta/.well-known/jwks')).status).toBe(404))
  })

  test('gives an administrator of a tenant no power over the server or another tenant', async () => {
    await start({ list: [evil, listed] })
    const { body } = await token('/t/evil', evilOps, 'admin')
    const bearer = body.access_token
    expect((await administrate('/t/evil', bearer, 'GET', '/clients')).status).toBe(200)
    for (const at of ['', '/t/acme']) {
      expect((await administrate(at, bearer, 'GET', '/clients')).status).toBeOneOf([401, 404])
      expect((await administrate(at, bearer, 'POST', '/tenants', { name: 'own' })).status).toBeOneOf([401, 404])
    }
    const refused = await administrate('/t/evil', bearer, 'POST', '/tenants', { name: 'own' })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect((await administrate('/t/evil', bearer, 'GET', '/tenants')).body.items).toEqual([])
    const { access_token: operator } = (await token('', ops, 'admin')).body
    expect((await administrate('/t/evil', operator, 'GET', '/clients')).status).toBe(401)
    expect((await administrate('/t/acme', operator, 'GET', '/clients')).status).toBe(404)
  })
})
