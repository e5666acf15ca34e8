import type { ProviderOptions, ScopeOptions } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { formats, tokenOfAlice } from '../support/access-token.ts'
import { api1, api2, type Fixture, fixture, scopes, web } from '../support/fixture.ts'

const endpoint = 'https://id.example.com/connect/introspect'

const accessToken = (f: Fixture, client: typeof web, scope = 'openid api1 api2') => tokenOfAlice(f, client, scope)

const activeAt = (now: number, clientId: string, scope: string) => ({
  active: true,
  token_type: 'Bearer',
  iss: 'https://id.example.com',
  aud: 'https://api1.example.com',
  iat: now,
  nbf: now,
  exp: now + 3600,
  jti: expect.stringMatching(/^[\w-]{22}$/u),
  client_id: clientId,
  scope,
  sub: '1',
  auth_time: now,
  idp: 'local',
  amr: ['pwd'],
})

describe.each(formats)('an active %s', (_, client) => {
  test('7.10 returns 200 with active, token_type and the claims', async () => {
    const f = await fixture()
    const response = await f.post('introspection', { token: await accessToken(f, client) }, api1)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('pragma')).toBe('no-cache')
    expect(response.body).toEqual(activeAt(f.clock.now(), client[0], 'api1'))
    for (const name of ['exp', 'iat', 'nbf']) expect(Number.isInteger(response.body[name])).toBe(true)
    expect(f.events.at(-2)).toMatchObject({
      type: 'introspection_active',
      scope: 'api1',
      clientId: client[0],
      sub: '1',
    })
  })

  test('7.10 a client-only token has no sub', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api2' }
    const token = (await f.post('token', form, client)).body.access_token
    const { body } = await f.post('introspection', { token }, api2)
    expect(body).toMatchObject({ active: true, scope: 'api2', client_id: client[0] })
    expect(Object.keys(body)).not.toContain('sub')
  })

  test('7.10 includes the user claims that the API requests', async () => {
    const asking: readonly ScopeOptions[] = scopes.map((scope) => ({ ...scope, claims: ['role', 'email'] }))
    const f = await fixture({ scopes: asking })
    const { body } = await f.post('introspection', { token: await accessToken(f, client, 'api1') }, api1)
    expect(body).toMatchObject({ active: true, role: ['admin', 'editor'], email: 'alice@example.com' })
  })

  test('7.11 scope contains only the scope of the caller', async () => {
    const f = await fixture()
    const token = await accessToken(f, client)
    expect((await f.post('introspection', { token }, api1)).body.scope).toBe('api1')
    expect((await f.post('introspection', { token }, api2)).body.scope).toBe('api2')
  })

  test('7.11 an unrestricted scope sees all scopes, in one string', async () => {
    const unrestricted = scopes.map((scope) => ({ ...scope, unrestrictedIntrospection: scope.name === 'api2' }))
    const f = await fixture({ scopes: unrestricted })
    const token = await accessToken(f, client)
    expect((await f.post('introspection', { token }, api2)).body).toEqual(
      activeAt(f.clock.now(), client[0], 'openid api1 api2'),
    )
    expect((await f.post('introspection', { token }, api1)).body.scope).toBe('api1')
  })

  test.each(['access_token', 'refresh_token', 'id_token', 'nonsense', ''])(
    '7.12 token_type_hint is only a hint (%s)',
    async (hint) => {
      const f = await fixture()
      const form = { token: await accessToken(f, client), token_type_hint: hint }
      const response = await f.post('introspection', form, api1)
      expect(response.status).toBe(200)
      expect(response.body).toEqual(activeAt(f.clock.now(), client[0], 'api1'))
    },
  )

  describe('for a scope that the token does not contain', () => {
    const unrelated = async (
      introspection: ProviderOptions['introspection'],
      more: readonly ScopeOptions[] = scopes,
    ) => {
      const f = await fixture({ ...(introspection && { introspection }), scopes: more })
      return {
        f,
        response: await f.post('introspection', { token: await accessToken(f, client, 'openid api1') }, api2),
      }
    }

    test.each([undefined, {}, { unrelatedScope: 'inactive' }] as const)(
      '7.8 the response is inactive, and nothing else (setting %j)',
      async (introspection) => {
        const { f, response } = await unrelated(introspection)
        expect(response.status).toBe(200)
        expect(response.body).toEqual({ active: false })
        const reason = 'scope_not_in_token'
        expect(f.events.at(-2)).toMatchObject({ type: 'introspection_inactive', scope: 'api2', reason })
      },
    )

    test('7.9 the setting "unauthorized" turns it into 401', async () => {
      const { f, response } = await unrelated({ unrelatedScope: 'unauthorized' })
      expect(response.status).toBe(401)
      expect(response.body).toEqual({
        error: 'invalid_client',
        error_description: 'The scope is not allowed to introspect this token',
      })
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
      expect(response.headers.get('cache-control')).toBe('no-store')
      const reason = 'scope_not_in_token'
      expect(f.events.at(-2)).toMatchObject({ type: 'introspection_denied', scope: 'api2', reason })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 401, error: 'invalid_client', reason })
    })

    test('7.9 the setting affects neither a related scope nor an invalid token', async () => {
      const f = await fixture({ introspection: { unrelatedScope: 'unauthorized' } })
      const token = await accessToken(f, client, 'openid api1')
      expect((await f.post('introspection', { token }, api1)).body.active).toBe(true)
      f.clock.advance(3600)
      const expired = await f.post('introspection', { token }, api2)
      expect([expired.status, expired.body]).toEqual([200, { active: false }])
      const unknown = await f.post('introspection', { token: 'x' }, api2)
      expect([unknown.status, unknown.body]).toEqual([200, { active: false }])
    })

    test('7.8 an unrestricted scope sees all scopes of its own tokens, but not the tokens of others', async () => {
      const unrestricted = scopes.map((scope) => ({ ...scope, unrestrictedIntrospection: true }))
      const { response } = await unrelated({}, unrestricted)
      expect([response.status, response.body]).toEqual([200, { active: false }])
    })
  })
})

test('7.9 rejects another value of the setting at start', async () => {
  const introspection = { unrelatedScope: 'forbidden' } as unknown as { unrelatedScope: 'inactive' }
  await expect(fixture({ introspection })).rejects.toThrow(/introspection\.unrelatedScope/u)
})

describe('POST only', () => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE'])('7.1 %s is 405', async (method) => {
    const f = await fixture()
    const response = await f.provider.fetch(new Request(`${endpoint}?token=x`, { method }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('7.5 ignores a token in the query', async () => {
    const f = await fixture()
    const token = await accessToken(f, web)
    const headers = { authorization: `Basic ${btoa(api1.join(':'))}` }
    const response = await f.provider.fetch(
      new Request(`${endpoint}?token=${token}`, { method: 'POST', headers, body: new URLSearchParams({ x: 'y' }) }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      error_description: 'The parameter token is required',
    })
  })

  test('no page of another origin can read the response', async () => {
    const f = await fixture()
    const headers = { authorization: `Basic ${btoa(api1.join(':'))}`, origin: 'https://web.example.com' }
    const body = new URLSearchParams({ token: await accessToken(f, web) })
    const response = await f.provider.fetch(new Request(endpoint, { method: 'POST', headers, body }))
    expect(response.status).toBe(200)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
    const preflight = { origin: 'https://web.example.com', 'access-control-request-method': 'POST' }
    const refused = await f.provider.fetch(new Request(endpoint, { method: 'OPTIONS', headers: preflight }))
    expect(refused.status).toBe(405)
    expect(refused.headers.has('access-control-allow-origin')).toBe(false)
  })
})
