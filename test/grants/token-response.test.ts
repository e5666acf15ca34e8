import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, redirectUri, web } from '../support/fixture.ts'

const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }

describe('a successful token response', () => {
  test('3.6 has the standard members, and no others', async () => {
    const f = await fixture()
    const { status, headers, body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43,}$/u),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'api1',
    })
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('www-authenticate')).toBeNull()
  })

  test('3.6 has refresh_token and id_token when they are due', async () => {
    const f = await fixture()
    const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { body } = await f.post('token', form, web)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile offline_access api1',
      refresh_token: expect.any(String),
      id_token: expect.any(String),
    })
  })

  test('3.7 contains scope even if the request has none', async () => {
    const f = await fixture()
    const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const first = await f.post('token', form, web)
    const second = await f.post('token', { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }, web)
    expect(second.body.scope).toBe('openid profile offline_access api1')
  })
})

describe('the scope parameter', () => {
  test.each([[{ grant_type: 'client_credentials' }], [alice], [{ ...alice, scope: '' }]])(
    '3.9 scope is required: rejects %o without it',
    async (form) => {
      const f = await fixture()
      const { status, body } = await f.post('token', form, web)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_scope', error_description: expect.any(String) })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'scope_missing' })
    },
  )

  test('3.9 the code grant needs no scope and ignores one', async () => {
    const f = await fixture()
    const form = { grant_type: 'authorization_code', redirect_uri: redirectUri }
    const { status, body } = await f.post('token', { ...form, code: await f.code(), scope: 'api2' }, web)
    expect(status).toBe(200)
    expect(body.scope).toBe('openid profile offline_access api1')
  })

  test.each([
    ['a tab', 'api1\tapi2'],
    ['a trailing tab', 'api1\t'],
    ['a line break', 'api1\napi2'],
    ['a trailing line break', 'api1\r\n'],
    ['a no-break space', 'api1\u00a0api2'],
    ['a wide space', 'api1\u3000api2'],
    ['a quotation mark', 'api1 "api2"'],
    ['a backslash', 'api1\\'],
    ['a character beyond ASCII', 'äpi1'],
    ['a control character', 'api1\u0000'],
  ])('3.10 splits scopes at spaces and rejects other characters: %s', async (_, scope) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { grant_type: 'client_credentials', scope }, web)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_scope')
    expect(f.events.at(-1)).toMatchObject({ reason: 'scope_malformed' })
  })

  test.each([
    ['two spaces', 'api1  api2'],
    ['a leading space', ' api1 api2'],
    ['a trailing space', 'api1 api2 '],
    ['spaces everywhere', '   api1   api2  '],
  ])('3.10 ignores extra spaces around and between scopes: %s', async (_, scope) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { grant_type: 'client_credentials', scope }, web)
    expect(status).toBe(200)
    expect(body.scope).toBe('api1 api2')
  })

  test('3.10 a scope of spaces only counts as missing', async () => {
    const f = await fixture()
    const required = await f.post('token', { grant_type: 'client_credentials', scope: '   ' }, web)
    expect([required.status, required.body.error]).toEqual([400, 'invalid_scope'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'scope_missing' })
    const code = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { body } = await f.post('token', code, web)
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, scope: ' ' }
    const optional = await f.post('token', refresh, web)
    expect([optional.status, optional.body.scope]).toEqual([200, 'openid profile offline_access api1'])
  })

  test('3.11 a duplicate scope counts once', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api2 api1 api2 api1' }
    expect((await f.post('token', form, web)).body.scope).toBe('api2 api1')
  })

  test.each([
    ['unknown', 'api1 api9', 'scope_unknown'],
    ['unknown and named like a property of Object.prototype', 'constructor', 'scope_unknown'],
    ['in another case', 'API1', 'scope_unknown'],
    ['disabled', 'api1 retired', 'scope_unknown'],
    ['not allowed to the client', 'api1 secret', 'scope_not_allowed'],
  ])('3.12 all or nothing: one scope that is %s rejects them all', async (_, scope, reason) => {
    const f = await fixture({
      clients: [
        {
          clientId: 'web',
          secrets: [{ sha256: sha256Of(web[1]) }],
          grantTypes: ['client_credentials'],
          scopes: ['api1', 'retired'],
          accessTokenFormat: 'reference',
        },
      ],
      scopes: [{ name: 'api1' }, { name: 'secret' }, { name: 'retired', enabled: false }],
    })
    const { status, body } = await f.post('token', { grant_type: 'client_credentials', scope }, web)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_scope')
    expect(f.events.at(-1)).toMatchObject({ reason })
    // The scope was rejected, not the client: with its allowed scopes, the request succeeds.
    expect((await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)).status).toBe(200)
  })
})
