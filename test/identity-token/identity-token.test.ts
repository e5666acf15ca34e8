import { createHash } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, type NewCode, redirectUri, web } from '../support/fixture.ts'
import { privateKeyFor } from '../support/keys.ts'

const issuer = 'https://id.example.com'

async function redeemed(f: Fixture, more: NewCode = {}) {
  const form = { grant_type: 'authorization_code', code: await f.code(more), redirect_uri: redirectUri }
  return (await f.post('token', form, web)).body
}

/** Verifies a token like a client: with the published keys, at the provider's time. */
async function verified(f: Fixture, token: string) {
  const jwks = createLocalJWKSet((await f.get('jwks')).body)
  const currentDate = new Date(f.clock.now() * 1000)
  return jwtVerify(token, jwks, { issuer, audience: web[0], typ: 'JWT', currentDate })
}

const halfHash = (algorithm: string, text: string): string => {
  const digest = createHash(algorithm).update(text).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

describe('an identity token', () => {
  test('3.59 has these claims, and no others', async () => {
    const f = await fixture()
    const subject = { sub: '1', amr: ['pwd', 'otp'], authTime: 1_799_999_000, idp: 'ldap', acr: 'gold' }
    const body = await redeemed(f, { subject, nonce: 'n-0S6_WzA2Mj' })
    const { protectedHeader, payload } = await verified(f, body.id_token)
    const now = f.clock.now()
    expect(protectedHeader).toEqual({ typ: 'JWT', alg: 'ES256', kid: expect.any(String) })
    expect(payload).toEqual({
      iss: issuer,
      sub: '1',
      aud: 'web',
      exp: now + 300,
      iat: now,
      nbf: now,
      nonce: 'n-0S6_WzA2Mj',
      auth_time: 1_799_999_000,
      idp: 'ldap',
      amr: ['pwd', 'otp'],
      acr: 'gold',
      at_hash: halfHash('sha256', body.access_token),
      txn: (await f.provider.inspect(body.access_token)).family,
    })
  })

  test('3.59 omits nonce, acr, and idp when the user signed in at this provider', async () => {
    const f = await fixture()
    const claims = decodeJwt((await redeemed(f)).id_token)
    expect(claims).not.toHaveProperty('nonce')
    expect(claims).not.toHaveProperty('acr')
    expect(claims).not.toHaveProperty('idp')
    expect(claims).toMatchObject({ auth_time: f.clock.now() })
  })

  test('3.59 returns the nonce unchanged', async () => {
    const f = await fixture()
    const nonce = `ünïcode "quotes" \\ ${'x'.repeat(270)}`
    expect(decodeJwt((await redeemed(f, { nonce })).id_token).nonce).toBe(nonce)
  })

  // OpenID Connect Core section 3.1.3.6: the hash is that of the signature's algorithm; for Ed25519 it is SHA-512.
  test.each([
    ['ES256', 'sha256'],
    ['RS256', 'sha256'],
    ['PS256', 'sha256'],
    ['EdDSA', 'sha512'],
  ] as const)('3.59 at_hash with %s is the left half of %s', async (algorithm, hash) => {
    const f = await fixture({ keys: [await privateKeyFor(algorithm)] })
    const body = await redeemed(f)
    const { payload, protectedHeader } = await verified(f, body.id_token)
    expect(protectedHeader.alg).toBe(algorithm)
    expect(payload.at_hash).toBe(halfHash(hash, body.access_token))
  })

  test('3.59 auth_time is the time of the login, not of the redemption of the code', async () => {
    const f = await fixture()
    const code = await f.code()
    const loggedIn = f.clock.now()
    f.clock.advance(30)
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const claims = decodeJwt((await f.post('token', form, web)).body.id_token)
    expect(claims).toMatchObject({ auth_time: loggedIn, iat: loggedIn + 30 })
  })

  test('3.59 contains no profile and no custom claims: those belong to userinfo and access tokens', async () => {
    const f = await fixture()
    const scopes = ['openid', 'profile', 'email', 'roles', 'api1']
    const claims = decodeJwt((await redeemed(f, { scopes, claims: { door: 'north' } })).id_token)
    for (const name of ['name', 'email', 'role', 'door', 'scope', 'client_id']) expect(claims).not.toHaveProperty(name)
  })

  test('3.60 has a lifetime of 300 seconds', async () => {
    const f = await fixture()
    const { id_token: token } = await redeemed(f)
    f.clock.advance(299)
    await expect(verified(f, token)).resolves.toBeDefined()
    f.clock.advance(1)
    await expect(verified(f, token)).rejects.toThrow(/exp/u)
  })

  test('3.60 has the lifetime of the client', async () => {
    const f = await fixture({
      clients: {
        find: (clientId) => ({
          clientId,
          grantTypes: ['authorization_code'],
          scopes: ['openid'],
          redirectUris: [redirectUri],
          identityTokenLifetime: 42,
        }),
        verifySecret: () => true,
      },
    })
    const claims = decodeJwt((await redeemed(f, { scopes: ['openid'] })).id_token)
    expect(claims.exp).toBe(f.clock.now() + 42)
  })

  test('3.59 is not an access token, and an access token is not an identity token', async () => {
    const f = await fixture()
    const body = await redeemed(f, { clientId: 'web' })
    const headers = { authorization: `Bearer ${body.id_token}` }
    expect((await f.get('userinfo', {}, headers)).status).toBe(401)
    expect((await f.get('accessTokenValidation', { token: body.id_token })).status).toBe(400)
    const mistaken = { token: body.access_token, client_id: 'web' }
    expect((await f.get('identityTokenValidation', mistaken)).status).toBe(400)
  })
})
