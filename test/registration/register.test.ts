import { decodeJwt, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { assertionType, createKey } from '../client-assertion/assertions.ts'
import { issuer, metadata, redirectUri, setUp } from './parties.ts'

const key = await createKey('ES256', { kid: 'one' })

describe('a registration', () => {
  test('17.5 returns the id, how to manage it, and all that was granted, with defaults', async () => {
    const f = await setUp()
    const { status, headers, body } = await f.register({ redirect_uris: [redirectUri] })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toContain('no-store')
    expect(body).toEqual({
      client_id: expect.stringMatching(/^registered-[\w-]{43}$/u),
      client_id_issued_at: f.clock.now(),
      client_secret: expect.stringMatching(/^[\w-]{43}$/u),
      client_secret_expires_at: f.clock.now() + 7_776_000,
      registration_access_token: expect.stringMatching(/^[\w-]{43}$/u),
      registration_client_uri: `${issuer}/connect/register/${body.client_id}`,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      application_type: 'web',
      scope: 'openid offline_access api1',
      token_endpoint_auth_method: 'client_secret_basic',
    })
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'client_registered', clientId: body.client_id, by: 'open' }),
    )
  })

  test('is announced, and a browser of any origin can send it', async () => {
    const f = await setUp()
    const { body } = await f.get('discovery')
    expect(body.registration_endpoint).toBe(`${issuer}/connect/register`)
    const preflight = new Request(body.registration_endpoint, {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:6274',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    const { headers } = await f.provider.fetch(preflight)
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test('17.2 does not limit the scopes to those of the first request: SDKs ask for others later', async () => {
    const f = await setUp()
    const client = await f.registered({ ...metadata, scope: 'openid' })
    expect(client.scope).toBe('openid offline_access api1')
    expect((await f.signIn(client, { scope: 'openid api1' })).body.scope).toBe('openid api1')
  })

  test('17.2 ignores what the provider does not have, and returns what it has', async () => {
    const f = await setUp()
    const { body } = await f.register({
      ...metadata,
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit'],
      response_types: ['code', 'token'],
      scope: 'openid profile admin',
      client_uri: null,
      logo_uri: '',
      tos_uri: 'http://app.example.com/tos',
      contacts: ['admin@app.example.com'],
      software_id: 'app',
      unknown_member: { deep: true },
    })
    expect(body).toMatchObject({
      grant_types: ['authorization_code'],
      response_types: ['code'],
      scope: 'openid offline_access api1',
      contacts: ['admin@app.example.com'],
      software_id: 'app',
    })
    for (const name of ['client_uri', 'logo_uri', 'tos_uri', 'unknown_member']) expect(body).not.toHaveProperty(name)
  })

  test.each([
    ['http://localhost/callback', 'http://localhost:43117/callback'],
    ['http://127.0.0.1:9/callback', 'http://127.0.0.1:43117/callback'],
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'],
  ])('with the redirect URI %s is one of a program on the device', async (uri, requested) => {
    const f = await setUp()
    const client = await f.registered({ redirect_uris: [uri] })
    expect(client.application_type).toBe('native')
    expect((await f.signIn(client, { redirect_uri: requested })).status).toBe(200)
  })
})

describe('a client that has registered itself', () => {
  test('signs its user in, and refreshes', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { status, body } = await f.signIn(client)
    expect([status, decodeJwt(body.access_token).client_id]).toEqual([200, client.client_id])
    expect((await f.refresh(client, body.refresh_token)).status).toBe(200)
  })

  test.each(['client_secret_basic', 'client_secret_post'])('with a secret, for %s', async (method) => {
    const f = await setUp()
    const client = await f.registered({ token_endpoint_auth_method: method })
    expect(client.token_endpoint_auth_method).toBe(method)
    expect((await f.signIn(client)).status).toBe(200)
    const { status } = await f.signIn({ ...client, client_secret: 'wrong' })
    expect(status).toBe(401)
  })

  test('until its secret ends', async () => {
    const f = await setUp({ secretLifetime: 4000 })
    const client = await f.registered({ token_endpoint_auth_method: 'client_secret_basic' })
    expect((await f.signIn(client)).status).toBe(200)
    f.clock.advance(4001)
    expect((await f.signIn(client)).body).toMatchObject({ error: 'invalid_client' })
  })

  test('with a key, for itself', async () => {
    const f = await setUp({ grantTypes: ['client_credentials'], authenticationMethods: ['private_key_jwt'] })
    const client = await f.registered({
      redirect_uris: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.jwk] },
      scope: 'api1',
    })
    expect(client).not.toHaveProperty('client_secret')
    expect(client.jwks).toEqual({ keys: [key.jwk] })
    const assertion = await new SignJWT({ jti: 'one' })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(client.client_id)
      .setSubject(client.client_id)
      .setAudience(issuer)
      .setIssuedAt(f.clock.now())
      .setExpirationTime(f.clock.now() + 60)
      .sign(key.privateKey)
    const form = { grant_type: 'client_credentials', client_assertion_type: assertionType, client_assertion: assertion }
    expect((await f.post('token', { ...form, scope: 'api1' })).status).toBe(200)
  })
})
