import { defineEndpoint, definePlugin, type ProviderOptions } from '@grantry/core'
import { basic, read } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { api1, builtInPlugins, type Fixture, fixture, otherClient, spaClientId, web } from '../support/fixture.ts'

// Refuses what it does not declare: the credentials must be removed before.
const params = v.strictObject({ text: v.string() })

const echo = definePlugin('echo', [
  defineEndpoint({
    name: 'clientEcho',
    path: '/connect/clientecho',
    methods: ['POST', 'GET', 'PUT', 'DELETE'],
    caller: 'client',
    params,
    handle: ({ caller, params }) => ({ json: { client: caller.clientId, ...params } }),
  }),
  defineEndpoint({
    name: 'scopeEcho',
    path: '/connect/scopeecho',
    methods: ['POST', 'GET'],
    caller: 'scope',
    params,
    handle: ({ caller, params }) => ({ json: { scope: caller.name, ...params } }),
  }),
  defineEndpoint({
    name: 'tokenEcho',
    path: '/connect/tokenecho',
    methods: ['POST', 'GET'],
    caller: 'token',
    scope: 'api1',
    params,
    handle({ caller: { client, sub = null, scopes, claims }, params }) {
      return { json: { client: client.clientId, sub, scopes, audience: claims.aud ?? null, ...params } }
    },
  }),
  defineEndpoint({
    name: 'anyoneEcho',
    path: '/connect/anyoneecho',
    methods: ['POST', 'GET'],
    caller: 'anyone',
    params: v.looseObject({ text: v.string() }),
    handle: ({ caller, params }) => ({ json: { caller: caller ?? null, ...params } as never }),
  }),
])

const start = (options: Partial<ProviderOptions> = {}): Promise<Fixture> =>
  fixture({ plugins: [builtInPlugins, echo], ...options })

const login = { grant_type: 'password', username: 'alice', password: 'alice-password' }

async function tokenFor(f: Fixture, scope: string): Promise<string> {
  return String((await f.post('token', { ...login, scope }, web)).body.access_token)
}

describe('the caller client', () => {
  test('authenticates with Basic, with a secret in the form, or as a public client', async () => {
    const { post } = await start()
    expect((await post('clientEcho', { text: 'a' }, web)).body).toEqual({ client: 'web', text: 'a' })
    const inForm = { client_id: otherClient[0], client_secret: otherClient[1], text: 'a' }
    expect((await post('clientEcho', inForm)).body).toEqual({ client: 'other', text: 'a' })
    const open = await post('clientEcho', { client_id: spaClientId, text: 'a' })
    expect(open.body).toEqual({ client: 'spa', text: 'a' })
  })

  test('gets the same 401 as at the token endpoint, with the same event', async () => {
    const { post, events } = await start()
    const refused = await post('clientEcho', { text: 'a' }, ['web', 'wrong'])
    expect(refused.status).toBe(401)
    expect(refused.body).toEqual({ error: 'invalid_client', error_description: 'Client authentication failed' })
    expect(refused.headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
    expect(events.slice(-2)).toMatchObject([
      { type: 'client_authentication_failed', presentedClientId: 'web', endpoint: 'clientEcho' },
      { type: 'endpoint_failed', error: 'invalid_client', reason: 'secret_mismatch', endpoint: 'clientEcho' },
    ])
  })

  test('is limited together with the token endpoint', async () => {
    const { post } = await start({
      abuseControl: { credentials: { perClientAndAddress: { failures: 3, window: 60 } } },
    })
    const from = '203.0.113.1'
    for (let attempt = 0; attempt < 3; attempt += 1) await post('clientEcho', { text: 'a' }, ['web', 'wrong'], from)
    const refused = await post('token', { grant_type: 'client_credentials', scope: 'api1' }, web, from)
    expect(refused.body.error).toBe('slow_down')
  })

  test('is authenticated before the parameters are validated', async () => {
    const { post } = await start()
    expect((await post('clientEcho', {})).body.error).toBe('invalid_client')
    const { status, body } = await post('clientEcho', {}, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: 'The parameter text is required' })
  })

  test('sends the parameters of a GET or DELETE in the query, but never its credentials', async () => {
    const { get, provider } = await start()
    const headers = { authorization: basic(web) }
    expect((await get('clientEcho', { text: 'a' }, headers)).body).toEqual({ client: 'web', text: 'a' })
    const request = new Request('https://id.example.com/x?text=b', { method: 'DELETE', headers })
    expect((await read((await provider.handlers.clientEcho?.(request)) as Response)).body.text).toBe('b')
    const inQuery = await get('clientEcho', { text: 'a', client_id: web[0], client_secret: web[1] })
    expect(inQuery.body.error).toBe('invalid_client')
    expect((await get('clientEcho', { text: 'a', client_id: spaClientId })).body.error).toBe('invalid_client')
  })

  test('sends the parameters of a PUT in the form', async () => {
    const { provider } = await start()
    const init = { method: 'PUT', body: new URLSearchParams({ text: 'a' }), headers: { authorization: basic(web) } }
    const response = await provider.fetch(new Request('https://id.example.com/connect/clientecho?text=b', init))
    expect(await response.json()).toEqual({ client: 'web', text: 'a' })
  })
})

describe('the caller scope', () => {
  test('authenticates with Basic or with a secret in the form', async () => {
    const { post, get } = await start()
    expect((await post('scopeEcho', { text: 'a' }, api1)).body).toEqual({ scope: 'api1', text: 'a' })
    const inForm = { client_id: api1[0], client_secret: api1[1], text: 'a' }
    expect((await post('scopeEcho', inForm)).body).toEqual({ scope: 'api1', text: 'a' })
    const headers = { authorization: basic(api1) }
    expect((await get('scopeEcho', { text: 'a' }, headers)).body).toEqual({ scope: 'api1', text: 'a' })
  })

  test('is authenticated before the body is parsed', async () => {
    const { provider } = await start()
    const send = async (secret: string) => {
      const headers = {
        authorization: basic([api1[0], secret]),
        'content-type': 'application/x-www-form-urlencoded',
      }
      const init = { method: 'POST', body: 'text=%zz', headers }
      return read(await provider.fetch(new Request('https://id.example.com/connect/scopeecho', init)))
    }
    expect((await send('wrong')).body.error).toBe('invalid_client')
    expect((await send(api1[1])).body.error).toBe('invalid_request')
  })

  test('gets 401, and an event that contains only a known name', async () => {
    const { post, events } = await start()
    expect((await post('scopeEcho', { text: 'a' }, ['api1', 'wrong'])).status).toBe(401)
    expect(events.at(-2)).toMatchObject({
      type: 'scope_authentication_failed',
      presentedScope: 'api1',
      reason: 'secret_mismatch',
      endpoint: 'scopeEcho',
    })
    await post('scopeEcho', { text: 'a' }, ['a-secret-as-name', 'wrong'])
    expect(events.at(-2)).toMatchObject({ type: 'scope_authentication_failed', reason: 'scope_unknown' })
    expect(JSON.stringify(events)).not.toContain('a-secret-as-name')
  })

  test('sends its credentials only once', async () => {
    const { post } = await start()
    const { body } = await post('scopeEcho', { text: 'a', client_secret: api1[1] }, api1)
    expect(body.error_description).toBe('Credentials are sent both in the header and in the form')
  })
})

describe('the caller token', () => {
  test('presents a token in the header or the form; handle receives its client, user, scopes and claims', async () => {
    const f = await start()
    const token = await tokenFor(f, 'openid api1')
    const expected = { client: 'web', sub: '1', scopes: ['openid', 'api1'], text: 'a' }
    const headers = { authorization: `Bearer ${token}` }
    expect((await f.get('tokenEcho', { text: 'a' }, headers)).body).toMatchObject(expected)
    const { body, status } = await f.post('tokenEcho', { text: 'a', access_token: token })
    expect([status, body]).toMatchObject([200, expected])
  })

  test('does not present it in the query', async () => {
    const f = await start()
    const { status, headers } = await f.get('tokenEcho', { text: 'a', access_token: await tokenFor(f, 'api1') })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer realm="https://id.example.com"')
  })

  test('has no sub with a token without a user, even if the token names the client in sub', async () => {
    const f = await start({ clientTokenSubject: 'client_id' })
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const token = (await f.post('token', form, ['web-jwt', 'web-jwt-secret'])).body.access_token
    const { body } = await f.post('tokenEcho', { text: 'a', access_token: token })
    expect(body).toMatchObject({ client: 'web-jwt', sub: null })
  })

  test('gets 401 for an invalid token, and 403 for a token without the scope', async () => {
    const f = await start()
    const invalid = await f.post('tokenEcho', { text: 'a', access_token: 'x' })
    expect(invalid.status).toBe(401)
    expect(invalid.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const narrow = await f.post('tokenEcho', { text: 'a', access_token: await tokenFor(f, 'openid') })
    expect(narrow.status).toBe(403)
    expect(narrow.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    expect(narrow.headers.get('www-authenticate')).toContain('scope="api1"')
    expect(narrow.failure).toBe('api1_missing')
  })

  test('is limited together with the userinfo endpoint', async () => {
    const f = await start({ abuseControl: { validation: { failures: 2, window: 60 } } })
    const from = '203.0.113.1'
    for (const access_token of ['x', 'y', 'z']) await f.post('tokenEcho', { text: 'a', access_token }, undefined, from)
    const headers = { authorization: `Bearer ${await tokenFor(f, 'openid')}` }
    expect((await f.get('userinfo', {}, headers, from)).status).toBe(429)
  })
})

test('the caller anyone does not authenticate, and may use the names of credentials as parameters', async () => {
  const { post, get } = await start()
  const form = { text: 'a', client_id: 'x', access_token: 'y' }
  expect((await post('anyoneEcho', form)).body).toEqual({ caller: null, ...form })
  expect((await get('anyoneEcho', form)).body).toEqual({ caller: null, ...form })
})

test.each(['client', 'scope', 'token'] as const)(
  'handle does not receive the credentials of the caller %s, whatever the schema accepts',
  async (caller) => {
    const keys = definePlugin('keys', [
      defineEndpoint({
        name: 'keys',
        path: '/keys',
        methods: ['POST'],
        caller,
        scope: caller === 'token' ? 'api1' : undefined,
        params: v.record(v.string(), v.string()),
        handle: ({ params, request }) => ({
          json: { params, authorization: request.header('Authorization') },
        }),
      }),
    ])
    const f = await start({ plugins: [builtInPlugins, keys] })
    const [client_id, client_secret] = caller === 'client' ? web : api1
    const credentials = caller === 'token' ? { access_token: await tokenFor(f, 'api1') } : { client_id, client_secret }
    const { body } = await f.post('keys', { ...credentials, more: 'a' })
    expect(body).toEqual({ params: { more: 'a' }, authorization: null })
  },
)
