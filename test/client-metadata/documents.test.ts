import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document, type Hosted, redirectUri, setUp } from './parties.ts'

const at = (url: string, hosted: Hosted) => createHosts({ [url]: hosted })
const plugin = (reason: string) => `plugin:client-metadata:${reason}`

describe('a document is refused', () => {
  test.each<[string, string, Hosted]>([
    ['that its owner has removed for good', 'document_gone', { body: '', status: 410 }],
    ['with a secret', 'secret_published', { body: { ...document, client_secret: 'published' } }],
    ['with the end of a secret', 'secret_published', { body: { ...document, client_secret_expires_at: 0 } }],
    [
      'with the method of a secret',
      'method_refused',
      { body: { ...document, token_endpoint_auth_method: 'client_secret_basic' } },
    ],
    [
      'with private_key_jwt and no key',
      'keys_missing',
      { body: { ...document, token_endpoint_auth_method: 'private_key_jwt' } },
    ],
    [
      'without a redirect URI that can be used',
      'redirect_uris_missing',
      { body: { ...document, redirect_uris: ['javascript:alert(1)', 'http://app.example.com/cb', 7] } },
    ],
  ])('%s', async (_name, reason, hosted) => {
    const f = await setUp(at(clientId, hosted))
    const { status } = await f.authorize()
    expect([status, f.failures().at(-1)]).toEqual([400, plugin(reason)])
    const token = await f.redeem('any')
    expect([token.status, token.body.error]).toEqual([401, 'invalid_client'])
    expect(f.requested).toEqual([clientId])
  })

  test.each([
    ['https://app.example.com/a/../client.json', 'url_malformed'],
    ['https://APP.example.com/client.json', 'url_malformed'],
    ['https://app.example.com:443/client.json', 'url_malformed'],
    ['https://app.example.com/client.json#a', 'url_malformed'],
    ['https://user@app.example.com/client.json', 'url_malformed'],
    ['https://app.example.com/', 'url_malformed'],
    ['https://app.example.com', 'url_malformed'],
    ['https://\u0430pp.example.com/client.json', 'url_malformed'],
    ['https://192.0.2.7/client.json', 'url_refused'],
    ['https://localhost/client.json', 'url_refused'],
    ['https://[::1]/client.json', 'url_refused'],
  ])('at %s', async (url, reason) => {
    const f = await setUp(at(url, { body: { ...document, client_id: url } }))
    const { status } = await f.authorize({ client_id: url })
    expect([status, f.failures().at(-1), f.requested]).toEqual([400, plugin(reason), []])
  })

  test('of a host that the operator refuses, without a request to it', async () => {
    const f = await setUp(createHosts(), { hosts: [{ host: '*.example.com', policy: 'refuse' }] })
    expect((await f.authorize()).status).toBe(400)
    expect([f.failures().at(-1), f.requested]).toEqual([plugin('host_refused'), []])
  })

  test('of any other host, if only some are allowed', async () => {
    const only = { hosts: [{ host: 'app.example.com', policy: 'allow' as const }], otherHosts: 'refuse' as const }
    const otherClientId = 'https://other.example.com/client.json'
    const f = await setUp(createHosts({ [otherClientId]: { body: { ...document, client_id: otherClientId } } }), only)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    expect((await f.authorize({ client_id: otherClientId })).status).toBe(400)
  })
})

describe('a document is read', () => {
  test.each(['application/json; charset=utf-8', 'application/client-metadata+json', 'APPLICATION/JSON'])(
    'as %s',
    async (type) => {
      const f = await setUp(at(clientId, { body: document, type }))
      expect((await f.authorize()).code).toEqual(expect.any(String))
    },
  )

  test('without members that cannot be shown: a long name, links that are not https, a logo that is a script', async () => {
    const body = {
      ...document,
      client_name: `\u0301\u202Eevil\u0000 ${'n'.repeat(200)}`,
      client_uri: 'javascript:alert(1)',
      logo_uri: 'data:image/svg+xml,<svg onload=alert(1)>',
      tos_uri: 7,
      policy_uri: 'http://app.example.com/policy',
      contacts: 'a text',
      clientColor: '#c2410c',
      client_color: '#c2410c',
      grant_types: ['authorization_code', 'password', 'client_credentials'],
      scope: 'mcp:tools admin',
      redirect_uris: ['cursor://app/callback', 'javascript:alert(1)', redirectUri],
    }
    let client: object = {}
    const seen = {
      interact: ({
        request,
        kit,
      }: {
        request: { client: object; scopes: readonly string[] }
        kit: { now(): number }
      }) => {
        client = request.client
        return { subject: { sub: 'alice', amr: ['pwd'], authTime: kit.now() }, scopes: request.scopes, trusted: true }
      },
    }
    const f = await setUp(at(clientId, { body }), {}, {}, seen as never)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    expect(client).toMatchObject({
      clientId,
      clientName: `evil ${'n'.repeat(95)}`,
      public: true,
      grantTypes: ['authorization_code'],
      scopes: ['mcp:tools'],
      redirectUris: ['cursor://app/callback', redirectUri],
      allowedCorsOrigins: ['https://app.example.com'],
      requireConsent: true,
      selfDescribed: 'ask',
    })
    for (const member of ['clientColor', 'clientUri', 'logoUri', 'tosUri', 'policyUri'])
      expect(client).not.toHaveProperty(member)
  })

  test.each([
    ['for as long as its response tells', { 'cache-control': 'max-age=600' }, 599, 601],
    ['for at least 30 seconds', { 'cache-control': 'no-store' }, 29, 31],
    ['for at most a day', { 'cache-control': 'public, max-age=31536000' }, 86_399, 86_401],
    ['without the time that caches have kept it', { 'cache-control': 'max-age=600', age: '500' }, 99, 101],
    ['until it expires', { expires: new Date((1_800_000_000 + 900) * 1000).toUTCString() }, 899, 901],
    ['for five minutes, if its response does not tell', {}, 299, 301],
    ['for 30 seconds, if its end is no date', { expires: '0' }, 29, 31],
    ['for 30 seconds, if its end has no zone', { expires: 'Fri, 15 Jan 2027 12:00:00' }, 29, 31],
  ])('again, %s', async (_name, headers, fresh, stale) => {
    const f = await setUp(at(clientId, { body: document, headers }))
    await f.authorize()
    f.clock.advance(fresh)
    await f.authorize()
    expect(f.requested).toHaveLength(1)
    f.clock.advance(stale - fresh)
    await f.authorize()
    expect(f.requested).toHaveLength(2)
  })

  test('again after ten seconds, if it could not be used', async () => {
    const f = await setUp(at(clientId, { body: '', status: 500 }))
    expect((await f.authorize()).status).toBe(503)
    f.hosted.set(clientId, { body: document })
    expect((await f.authorize()).status).toBe(503)
    f.clock.advance(11)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    expect(f.requested).toHaveLength(2)
  })
})

describe('a copy of the document', () => {
  test('lets another process redeem the code while the host is down', async () => {
    const storage = memoryDriver()
    const f = await setUp(createHosts(), {}, { storage })
    const down = createHosts({ [clientId]: () => Promise.reject(new Error('down')) })
    const otherProcess = await setUp(down, {}, { storage })
    const { code } = await f.authorize()
    expect((await otherProcess.redeem(code)).status).toBe(200)
    expect(otherProcess.requested).toEqual([])
  })

  test('is used for a day while the host is down, also for a new sign-in', async () => {
    const f = await setUp()
    await f.redeem((await f.authorize()).code)
    f.hosted.set(clientId, () => Promise.reject(new Error('down')))
    f.clock.advance(3600)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    f.clock.advance(86_400)
    expect((await f.authorize()).status).toBe(503)
  })

  test('is used after a failure that was slower than failures count', async () => {
    const f = await setUp()
    await f.authorize()
    f.hosted.set(clientId, () => {
      f.clock.advance(11)
      return Promise.reject(new Error('down'))
    })
    f.clock.advance(301)
    expect((await f.authorize()).code).toEqual(expect.any(String))
  })

  test('changes together with the document', async () => {
    const f = await setUp()
    await f.authorize()
    f.hosted.set(clientId, { body: { ...document, redirect_uris: ['https://app.example.com/other'] } })
    f.clock.advance(301)
    expect((await f.authorize()).status).toBe(400)
    expect((await f.authorize({ redirect_uri: 'https://app.example.com/other' })).code).toEqual(expect.any(String))
  })
})

test('the discovery document announces it', async () => {
  const f = await setUp()
  expect((await f.get('discovery')).body.client_id_metadata_document_supported).toBe(true)
})
