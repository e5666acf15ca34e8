import { basic, type Credentials, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, lastReason, redirectUri, spaClientId, web } from '../support/fixture.ts'

const wrong: Credentials = ['web', 'wrong-secret']
const form = 'application/x-www-form-urlencoded'
const tooLarge = 'x'.repeat(65_537)

/**
 * Each row is wrong at its own stage and, as far as possible, at every later one: only the order explains the response.
 */
const stages = [
  {
    stage: 'the method',
    request: { method: 'PUT', type: 'application/json', body: `%zz&${tooLarge}`, as: wrong },
    status: 405,
    error: 'invalid_request',
    reason: 'method_not_allowed',
  },
  {
    stage: 'the media type',
    request: { method: 'POST', type: 'application/json', body: `%zz&${tooLarge}`, as: wrong },
    status: 415,
    error: 'invalid_request',
    reason: 'media_type',
  },
  {
    stage: 'the size of the body',
    request: { method: 'POST', type: form, body: `a=%zz&b=${tooLarge}`, as: wrong },
    status: 413,
    error: 'invalid_request',
    reason: 'body_too_large',
  },
  {
    stage: 'the encoding of the body',
    request: { method: 'POST', type: form, body: 'a=%zz', as: wrong },
    status: 400,
    error: 'invalid_request',
    reason: 'malformed_encoding',
  },
  {
    stage: 'the client',
    request: { method: 'POST', type: form, body: 'scope=nothing', as: wrong },
    status: 401,
    error: 'invalid_client',
    reason: 'secret_mismatch',
  },
  {
    stage: 'the presence of grant_type',
    request: { method: 'POST', type: form, body: 'scope=nothing', as: web },
    status: 400,
    error: 'invalid_request',
    reason: 'grant_type_missing',
  },
  {
    stage: 'the registration of the grant type',
    request: { method: 'POST', type: form, body: 'grant_type=urn:absent&scope=nothing', as: web },
    status: 400,
    error: 'unsupported_grant_type',
    reason: 'grant_type_unknown',
  },
  {
    stage: 'the parameters of the grant',
    request: { method: 'POST', type: form, body: 'grant_type=password&scope=nothing', as: web },
    status: 400,
    error: 'invalid_request',
    reason: 'parameter_missing',
  },
  {
    stage: 'the scope',
    request: { method: 'POST', type: form, body: 'grant_type=password&username=eve&password=x&scope=nothing', as: web },
    status: 400,
    error: 'invalid_scope',
    reason: 'scope_unknown',
  },
  {
    stage: 'the grant itself',
    request: { method: 'POST', type: form, body: 'grant_type=password&username=eve&password=x&scope=api1', as: web },
    status: 400,
    error: 'invalid_grant',
    reason: 'plugin:password:wrong_credentials',
  },
] as const

describe('the order of checks', () => {
  test.each(stages)('3.1 $stage is checked before everything after it', async ({ request, status, error, reason }) => {
    const f = await fixture()
    const { method, type, body, as } = request
    const response = await read(
      await f.provider.handlers.token(
        new Request('https://id.example.com/connect/token', {
          method,
          body,
          headers: { 'content-type': type, authorization: basic(as) },
        }),
      ),
    )
    expect(response.status).toBe(status)
    expect(response.body).toEqual({ error, error_description: expect.stringMatching(/./u) })
    expect(lastReason(f)).toBe(reason)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('pragma')).toBe('no-cache')
  })

  test('3.1 checks that the client may use the grant type before it validates the parameters of the grant', async () => {
    const f = await fixture()
    const response = await f.post('token', { grant_type: 'password', client_id: spaClientId, scope: 'nothing' })
    expect(response.status).toBe(400)
    expect(response.body).toEqual({ error: 'unauthorized_client', error_description: expect.any(String) })
    expect(lastReason(f)).toBe('grant_type_not_allowed')
  })

  test('3.1 tries no password while the scope is wrong', async () => {
    const f = await fixture()
    const credentials = { username: 'alice', password: 'alice-password' }
    await f.post('token', { grant_type: 'password', ...credentials, scope: 'nothing' }, web)
    expect(f.events.map(({ type }) => type).filter((type) => type.startsWith('user_'))).toEqual([])
  })
})

describe('grant_type', () => {
  test.each([{}, { grant_type: '' }])('3.2 without grant_type the request is invalid: %o', async (form) => {
    const f = await fixture()
    const response = await f.post('token', { ...form, scope: 'api1' }, web)
    expect(response.status).toBe(400)
    expect(response.body).toEqual({
      error: 'invalid_request',
      error_description: expect.stringContaining('grant_type'),
    })
    expect(lastReason(f)).toBe('grant_type_missing')
  })

  test.each([' ', 'Password', 'password ', 'refresh-token', 'implicit', 'constructor', '__proto__', 'x'.repeat(101)])(
    '3.3 the grant type "%s", which is not registered, is unsupported',
    async (grantType) => {
      const f = await fixture()
      const response = await f.post('token', { grant_type: grantType, scope: 'api1' }, web)
      expect(response.status).toBe(400)
      expect(response.body).toEqual({ error: 'unsupported_grant_type', error_description: expect.any(String) })
      expect(lastReason(f)).toBe('grant_type_unknown')
    },
  )

  test('3.4 a client uses only the grant types allowed to it', async () => {
    const f = await fixture({
      clients: [{ clientId: 'narrow', public: true, grantTypes: ['refresh_token'], scopes: ['api1'] }],
    })
    const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: redirectUri }
    const response = await f.post('token', { ...code, client_id: 'narrow' })
    expect(response.status).toBe(400)
    expect(response.body).toEqual({ error: 'unauthorized_client', error_description: expect.any(String) })
    expect(lastReason(f)).toBe('grant_type_not_allowed')
  })
})
