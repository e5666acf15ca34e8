/**
 * Attack: a caller without the secret of a scope tries to learn whether a stolen token still works, what it contains,
 * or which scopes exist.
 */
import { type ScopeOptions, webRuntime } from '@grantry/core'
import { basic, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, api2, type Fixture, fixture, scopes, web } from '../support/fixture.ts'

const endpoint = 'https://id.example.com/connect/introspect'

async function accessToken(f: Fixture): Promise<string> {
  return (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)).body.access_token
}

const send = (f: Fixture, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> =>
  f.provider.fetch(new Request(endpoint, { method: 'POST', headers, body: new URLSearchParams(form) }))

async function expectDenied(f: Fixture, response: Response, reason: string): Promise<void> {
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
  expect(response.headers.get('cache-control')).toBe('no-store')
  // The same bytes for every reason.
  expect(await response.json()).toEqual({
    error: 'invalid_client',
    error_description: 'Client authentication failed',
  })
  expect(f.events.at(-2)).toMatchObject({ type: 'introspection_denied', reason })
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 401, error: 'invalid_client', reason })
}

test('7.1 accepts name and secret of the scope in a Basic header', async () => {
  const f = await fixture()
  const response = await send(f, { token: await accessToken(f) }, { authorization: basic(api1) })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ active: true, scope: 'api1' })
})

test('7.2 accepts the same pair in the form', async () => {
  const f = await fixture()
  const response = await send(f, { token: await accessToken(f), client_id: api1[0], client_secret: api1[1] })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ active: true, scope: 'api1' })
})

test('7.2 the pair in both places is invalid_request', async () => {
  const f = await fixture()
  const form = { token: await accessToken(f), client_id: api1[0], client_secret: api1[1] }
  const response = await send(f, form, { authorization: basic(api1) })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: 'invalid_request' })
})

test('7.2 beside the header, accepts an equal client_id; a different one is invalid_request', async () => {
  const f = await fixture()
  const token = await accessToken(f)
  const request = (client_id: string) => send(f, { token, client_id }, { authorization: basic(api1) })
  expect(await (await request(api1[0])).json()).toMatchObject({ active: true })
  const refused = await request(api2[0])
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: 'invalid_request' })
})

describe('denied', () => {
  test('7.4 without credentials', async () => {
    const f = await fixture()
    await expectDenied(f, await send(f, { token: await accessToken(f) }), 'credentials_missing')
  })

  test.each([
    ['an unknown scope', ['api9', 'x'], 'scope_unknown'],
    ['a wrong secret', ['api1', 'x'], 'secret_mismatch'],
    ['the secret of another scope', ['api1', api2[1]], 'secret_mismatch'],
    ['a client instead of a scope', web, 'scope_unknown'],
    ['a standard scope, which has no secret', ['openid', 'x'], 'secret_mismatch'],
    ['the name in another case', ['API1', api1[1]], 'scope_unknown'],
    ['a space before the name', [' api1', api1[1]], 'scope_unknown'],
    ['the secret with a trailing space', ['api1', `${api1[1]} `], 'secret_mismatch'],
    ['a name of a built-in property', ['__proto__', 'x'], 'scope_unknown'],
  ] as const)('7.4 %s, in the header and in the form', async (_, pair, reason) => {
    const f = await fixture()
    const token = await accessToken(f)
    await expectDenied(f, await send(f, { token }, { authorization: basic(pair) }), reason)
    const [client_id, client_secret] = pair
    await expectDenied(f, await send(f, { token, client_id, client_secret }), reason)
  })

  test.each(['api1', 'openid'])('7.4 no secret for %s, in the header and in the form', async (name) => {
    const f = await fixture()
    const token = await accessToken(f)
    await expectDenied(f, await send(f, { token }, { authorization: basic([name, '']) }), 'credentials_impossible')
    await expectDenied(f, await send(f, { token, client_id: name }), 'secret_missing')
  })

  test('7.4 a disabled scope', async () => {
    const f = await fixture({ scopes: scopes.map((scope) => ({ ...scope, enabled: scope.name !== 'api2' })) })
    const token = await accessToken(f)
    await expectDenied(f, await send(f, { token }, { authorization: basic(api2) }), 'scope_disabled')
  })

  test.each([
    ['a bearer token', 'Bearer x'],
    ['no pair', `Basic ${btoa('api1')}`],
    ['no base64', 'Basic api1:api1-secret'],
    ['nothing', 'Basic '],
  ])('7.4 rejects a header that holds %s, whatever the form contains', async (_, authorization) => {
    const f = await fixture()
    const form = { token: await accessToken(f), client_id: api1[0], client_secret: api1[1] }
    await expectDenied(f, await send(f, form, { authorization }), 'malformed_authorization')
  })

  test('7.4 does not accept the introspected token as a credential', async () => {
    const f = await fixture()
    const token = await accessToken(f)
    await expectDenied(f, await send(f, { token }, { authorization: `Bearer ${token}` }), 'malformed_authorization')
  })
})

describe('secrets', () => {
  const withSecrets = (secrets: ScopeOptions['secrets']): Promise<Fixture> =>
    fixture({ scopes: [{ name: 'api1', ...(secrets && { secrets }) }, { name: 'api2' }] })

  const statusWith = async (f: Fixture, secret: string): Promise<number> =>
    (await f.post('introspection', { token: 'x' }, ['api1', secret])).status

  test('7.3 any live secret of several matches, an expired one does not', async () => {
    const now = 1_800_000_000
    const f = await withSecrets([
      { sha256: sha256Of('old'), expiresAt: now + 10 },
      { sha256: sha256Of('new') },
      { sha256: sha256Of('gone'), expiresAt: now },
    ])
    f.clock.advance(9)
    expect(await statusWith(f, 'old')).toBe(200)
    expect(await statusWith(f, 'new')).toBe(200)
    expect(await statusWith(f, 'gone')).toBe(401)
    f.clock.advance(1)
    expect(await statusWith(f, 'old')).toBe(401)
    expect(await statusWith(f, 'new')).toBe(200)
  })

  test('7.3 accepts a secret stored as SHA-512', async () => {
    const digest = await webRuntime.sha512(new TextEncoder().encode('long'))
    const f = await withSecrets([{ sha512: Buffer.from(digest).toString('base64') }])
    expect(await statusWith(f, 'long')).toBe(200)
    expect(await statusWith(f, 'short')).toBe(401)
  })

  test('7.3 a form-encoded pair in the header works as it does for clients', async () => {
    const f = await withSecrets([{ sha256: sha256Of('a b%c') }])
    expect(await statusWith(f, 'a b%c')).toBe(200)
    expect(await statusWith(f, 'a+b%25c')).toBe(200)
    expect(await statusWith(f, 'a+b')).toBe(401)
  })
})

describe('order of the checks', () => {
  test.each([
    ['missing', {}],
    ['blank', { token: '' }],
  ] as readonly (readonly [string, Record<string, string>])[])(
    '7.5 a token that is %s is invalid_request',
    async (_, form) => {
      const f = await fixture()
      const response = await f.post('introspection', form, api1)
      expect(response.status).toBe(400)
      expect(response.body).toEqual({ error: 'invalid_request', error_description: 'The parameter token is required' })
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 400, reason: 'parameter_missing' })
    },
  )

  test.each([
    ['without a token', ''],
    ['with a repeated parameter', 'token=a&token=b'],
    ['with malformed encoding', 'token=%zz'],
    ['with a second secret', 'token=a&client_secret=x'],
  ])('7.6 denies an unauthenticated caller before it validates the body: %s', async (_, body) => {
    const f = await fixture()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = (authorization: string) =>
      f.provider.fetch(new Request(endpoint, { method: 'POST', headers: { ...headers, authorization }, body }))
    await expectDenied(f, await request(basic(['api1', 'x'])), 'secret_mismatch')
    const known = await request(basic(api1))
    expect(known.status).toBe(400)
    expect(await known.json()).toMatchObject({ error: 'invalid_request' })
  })

  test('7.6 also in the form: checks credentials before a missing token', async () => {
    const f = await fixture()
    const response = await send(f, { client_id: api1[0], client_secret: 'x' })
    await expectDenied(f, response, 'secret_mismatch')
  })
})
