import { signingKeys } from '@grantry/core'
import { createLocalJWKSet, decodeJwt, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, redirectUri, webJwt } from '../support/fixture.ts'
import { privateKeyFor } from '../support/keys.ts'

const issuer = 'https://id.example.com'

/** Verifies a token like a resource server: with the published keys, at the provider's time. */
async function verified(f: Fixture, token: string, options: JWTVerifyOptions = {}) {
  const jwks = createLocalJWKSet((await f.get('jwks')).body)
  const currentDate = new Date(f.clock.now() * 1000)
  return jwtVerify(token, jwks, { issuer, typ: 'at+jwt', currentDate, ...options })
}

async function clientToken(f: Fixture, scope: string): Promise<string> {
  const { body } = await f.post('token', { grant_type: 'client_credentials', scope }, webJwt)
  return body.access_token
}

async function userToken(f: Fixture, more: Parameters<Fixture['code']>[0] = {}) {
  const code = await f.code({ clientId: webJwt[0], ...more })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return (await f.post('token', form, webJwt)).body
}

describe('a JWT access token', () => {
  test('3.53 has the header and the claims of RFC 9068, and no others', async () => {
    const f = await fixture()
    const { protectedHeader, payload } = await verified(f, await clientToken(f, 'api1 api2'))
    const [key] = (await f.get('jwks')).body.keys
    expect(protectedHeader).toEqual({ typ: 'at+jwt', alg: 'ES256', kid: key.kid })
    const now = f.clock.now()
    expect(payload).toEqual({
      iss: issuer,
      aud: 'https://api1.example.com',
      exp: now + 3600,
      nbf: now,
      iat: now,
      jti: expect.stringMatching(/^[\w-]{22,}$/u),
      client_id: 'web-jwt',
      scope: 'api1 api2',
    })
  })

  test('3.54 also has sub, auth_time, idp and amr when there is a user', async () => {
    const f = await fixture()
    const subject = { sub: '1', amr: ['pwd', 'otp'], authTime: 1_799_999_000, idp: 'ldap', acr: 'gold' }
    const { access_token: token } = await userToken(f, { subject, scopes: ['openid', 'api1'] })
    const { payload } = await verified(f, token)
    expect(payload).toMatchObject({
      sub: '1',
      auth_time: 1_799_999_000,
      idp: 'ldap',
      amr: ['pwd', 'otp'],
      acr: 'gold',
      scope: 'openid api1',
      client_id: 'web-jwt',
    })
  })

  test('3.54 defaults idp to local and auth_time to now', async () => {
    const f = await fixture()
    const { access_token: token } = await userToken(f, { subject: { sub: '1', amr: ['pwd'] } })
    expect(decodeJwt(token)).toMatchObject({ idp: 'local', auth_time: f.clock.now() })
  })

  test('3.53 has a unique jti', async () => {
    const f = await fixture()
    const ids = new Set<JWTPayload['jti']>()
    for (let count = 0; count < 20; count += 1) ids.add(decodeJwt(await clientToken(f, 'api1')).jti)
    expect(ids.size).toBe(20)
  })

  test('3.53 does not verify after a change, with another key, as another type, or after its end', async () => {
    const f = await fixture()
    const token = await clientToken(f, 'api1')
    const [header, payload, signature] = token.split('.')
    const forged = btoa(JSON.stringify({ ...decodeJwt(token), scope: 'api1 api2' })).replaceAll('=', '')
    await expect(verified(f, `${header}.${forged}.${signature}`)).rejects.toThrow(/signature/u)
    const another = await fixture({ keys: signingKeys() })
    await expect(verified(another, `${header}.${payload}.${signature}`)).rejects.toThrow(/no applicable key/u)
    await expect(verified(f, token, { typ: 'JWT' })).rejects.toThrow(/typ/u)
    f.clock.advance(3600)
    await expect(verified(f, token)).rejects.toThrow(/exp/u)
  })

  test.each(['ES256', 'RS256', 'PS256', 'EdDSA'] as const)('3.53 verifies when signed with %s', async (algorithm) => {
    const f = await fixture({ keys: [await privateKeyFor(algorithm)] })
    const { protectedHeader } = await verified(f, await clientToken(f, 'api1'), { algorithms: [algorithm] })
    expect(protectedHeader.alg).toBe(algorithm)
  })

  test.each([
    ['one resource', 'api1', 'https://api1.example.com'],
    ['several resources', 'api1 other', ['https://api1.example.com', 'https://other.example.com']],
    ['scopes of the same resource', 'api1 api1-write', 'https://api1.example.com'],
    ['one with and one without a resource', 'api2 api1', 'https://api1.example.com'],
    ['no resource', 'api2', `${issuer}/resources`],
  ])('3.57 aud names the resources of the granted scopes: %s', async (_, scope, expected) => {
    const f = await fixture({
      clients: {
        find: (clientId) => ({ clientId, grantTypes: ['client_credentials'], scopes: scope.split(' ') }),
        verifySecret: () => true,
      },
      scopes: [
        { name: 'api1', audience: 'https://api1.example.com' },
        { name: 'api1-write', audience: 'https://api1.example.com' },
        { name: 'other', audience: 'https://other.example.com' },
        { name: 'api2' },
      ],
    })
    expect(decodeJwt(await clientToken(f, scope)).aud).toEqual(expected)
  })

  test('3.57 identity scopes add no resource to aud', async () => {
    const f = await fixture()
    const { access_token: token } = await userToken(f, { scopes: ['openid', 'profile'] })
    expect(decodeJwt(token).aud).toBe(`${issuer}/resources`)
  })

  test('3.57 a narrowed refresh narrows aud', async () => {
    const f = await fixture()
    const first = await userToken(f, { scopes: ['api1', 'api2', 'offline_access'] })
    expect(decodeJwt(first.access_token).aud).toBe('https://api1.example.com')
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token, scope: 'api2' }
    const { body } = await f.post('token', form, webJwt)
    expect(decodeJwt(body.access_token)).toMatchObject({ aud: `${issuer}/resources`, scope: 'api2' })
  })

  test('3.58 has the lifetime of the client', async () => {
    const f = await fixture({
      clients: {
        find: (clientId) => ({
          clientId,
          grantTypes: ['client_credentials'],
          scopes: ['api1'],
          accessTokenLifetime: 90,
        }),
        verifySecret: () => true,
      },
    })
    const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, webJwt)
    expect(body.expires_in).toBe(90)
    expect(decodeJwt(body.access_token).exp).toBe(f.clock.now() + 90)
  })

  test('contains the user claims that the API requests, and no others', async () => {
    const f = await fixture({
      scopes: [
        { name: 'api1', claims: ['email', 'role', 'shoe_size'] },
        { name: 'api2', claims: ['name'] },
      ],
    })
    const { access_token: token } = await userToken(f, { scopes: ['openid', 'profile', 'api1'] })
    const claims = decodeJwt(token)
    expect(claims).toMatchObject({ email: 'alice@example.com', role: ['admin', 'editor'] })
    for (const name of ['shoe_size', 'name', 'given_name']) expect(claims).not.toHaveProperty(name)
  })
})
