/**
 * Attack: an attacker presents an identity token to a relying party that is forged, of another kind, for another
 * client, or expired. The endpoint, which that party trusts, must not accept it, and must not reveal which check
 * failed.
 */
import type { ClientOptions } from '@grantry/core'
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, web, webJwt } from '../support/fixture.ts'

const rsa = await generateKeyPair('RS256', { extractable: true })
const foreign = await generateKeyPair('RS256', { extractable: true })
const rsaJwk = { ...(await exportJWK(rsa.privateKey)), kid: 'ours', alg: 'RS256' }

const sign = (
  claims: JWTPayload,
  header: Partial<JWTHeaderParameters> = {},
  key: CryptoKey | Uint8Array = rsa.privateKey,
) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'ours', typ: 'JWT', ...header }).sign(key)

const ownProvider = (more: Parameters<typeof fixture>[0] = {}): Promise<Fixture> => fixture({ keys: [rsaJwk], ...more })

const claimsFor = ({ clock }: Fixture): JWTPayload => {
  const now = clock.now()
  return { iss: 'https://id.example.com', sub: '1', aud: 'web', exp: now + 300, iat: now, nbf: now }
}

const validate = (f: Fixture, token: string, clientId = 'web') =>
  f.post('identityTokenValidation', { token, client_id: clientId })

const refusal = { error: 'invalid_token', error_description: 'The identity token is not valid' }

const lastReason = ({ events }: Fixture) => {
  const event = events.at(-1)
  return event?.type === 'endpoint_failed' ? event.reason : undefined
}

async function expectRefused(f: Fixture, token: string, reason: string, clientId = 'web'): Promise<void> {
  const response = await validate(f, token, clientId)
  expect(response.status).toBe(400)
  // Every error response has the same bytes: nothing reveals which check failed.
  expect(response.body).toEqual(refusal)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(lastReason(f)).toBe(reason)
  expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', tokenType: 'identity_token', reason })
}

test('4.13 the token that these tests vary is valid, and each error below is 400 with the same text', async () => {
  const f = await ownProvider()
  expect((await validate(f, await sign(claimsFor(f)))).status).toBe(200)
  await expectRefused(f, 'x', 'token_unknown')
})

describe('signature', () => {
  test('4.4 rejects a key that is not published, even under our kid', async () => {
    const f = await ownProvider()
    await expectRefused(f, await sign(claimsFor(f), {}, foreign.privateKey), 'token_unknown')
    await expectRefused(f, await sign(claimsFor(f), { kid: 'theirs' }, foreign.privateKey), 'token_unknown')
  })

  test('4.4 does not use a key that the token includes', async () => {
    const f = await ownProvider()
    const jwk = await exportJWK(foreign.publicKey)
    const header = { jwk, jku: 'https://evil.example.com/jwks', kid: 'theirs' }
    await expectRefused(f, await sign(claimsFor(f), header, foreign.privateKey), 'token_unknown')
  })

  test('4.4 rejects a changed payload or signature', async () => {
    const f = await ownProvider()
    const [header = '', , signature = ''] = (await sign(claimsFor(f))).split('.')
    const payload = btoa(JSON.stringify({ ...claimsFor(f), sub: '2' })).replace(/=+$/u, '')
    await expectRefused(f, `${header}.${payload}.${signature}`, 'token_unknown')
    const [, signedPayload = ''] = (await sign(claimsFor(f))).split('.')
    await expectRefused(f, `${header}.${signedPayload}.${signature.split('').reverse().join('')}`, 'token_unknown')
    await expectRefused(f, `${header}.${signedPayload}.`, 'token_unknown')
  })

  test.each(['x', 'a.b', 'a.b.c', '..', 'a.b.c.d.e', 'ä.ö.ü'])(
    '4.4 rejects a text that is not a JWT (%s)',
    async (token) => {
      await expectRefused(await ownProvider(), token, 'token_unknown')
    },
  )

  test('4.5 rejects an unsigned token', async () => {
    const f = await ownProvider()
    await expectRefused(f, new UnsecuredJWT(claimsFor(f)).encode(), 'token_unknown')
  })

  test('4.5 does not use the public key as an HMAC secret', async () => {
    const f = await ownProvider()
    for (const secret of [String(rsaJwk.n), JSON.stringify(await exportJWK(rsa.publicKey))]) {
      const token = await sign(claimsFor(f), { alg: 'HS256' }, new TextEncoder().encode(secret))
      await expectRefused(f, token, 'token_unknown')
    }
  })

  test('4.5 a key verifies only its own algorithm, even if another of our keys has the algorithm', async () => {
    const pss = await generateKeyPair('PS256', { extractable: true })
    const second = { ...(await exportJWK(pss.privateKey)), kid: 'second', alg: 'PS256' }
    const f = await ownProvider({ keys: [rsaJwk, second] })
    const { d, p, q, dp, dq, qi, n, e } = rsaJwk
    const asPss = await crypto.subtle.importKey(
      'jwk',
      { kty: 'RSA', alg: 'PS256', ...({ d, p, q, dp, dq, qi, n, e } as JsonWebKey) },
      { name: 'RSA-PSS', hash: 'SHA-256' },
      false,
      ['sign'],
    )
    await expectRefused(f, await sign(claimsFor(f), { alg: 'PS256' }, asPss), 'token_unknown')
    const rightful = await sign(claimsFor(f), { alg: 'PS256', kid: 'second' }, pss.privateKey)
    expect((await validate(f, rightful)).status).toBe(200)
  })
})

describe('claims of the token', () => {
  test('4.6 rejects an access token', async () => {
    const f = await ownProvider()
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid api1' }
    const jwt = (await f.post('token', form, webJwt)).body.access_token
    await expectRefused(f, jwt, 'token_unknown', 'web-jwt')
    const reference = (await f.post('token', form, web)).body.access_token
    await expectRefused(f, reference, 'token_unknown')
  })

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])('4.6 rejects typ %s, whatever the claims are', async (typ) => {
    const f = await ownProvider()
    await expectRefused(f, await sign(claimsFor(f), { typ }), 'token_unknown')
  })

  test.each([undefined, 'https://evil.example.com', 'https://id.example.com/', 'https://ID.example.com'])(
    '4.7 rejects iss %s',
    async (iss) => {
      const f = await ownProvider()
      const { iss: _, ...rest } = claimsFor(f)
      await expectRefused(f, await sign(iss === undefined ? rest : { ...rest, iss }), 'token_unknown')
    },
  )

  test('4.8 aud must contain client_id, alone or among others', async () => {
    const f = await ownProvider()
    const among = await sign({ ...claimsFor(f), aud: ['https://elsewhere.example.com', 'web'] })
    expect((await validate(f, among)).status).toBe(200)
    await expectRefused(f, await sign(claimsFor(f)), 'wrong_audience', 'other')
    await expectRefused(f, await sign({ ...claimsFor(f), aud: ['other', 'web-jwt'] }), 'wrong_audience')
    await expectRefused(f, await sign({ ...claimsFor(f), aud: [] }), 'wrong_audience')
  })

  test.each(['we', 'webb', 'WEB', ' web', 'web '])('4.8 compares client_id exactly (%s)', async (clientId) => {
    const f = await ownProvider()
    await expectRefused(f, await sign(claimsFor(f)), 'wrong_audience', clientId)
  })

  test('4.8 rejects a token without aud or without sub', async () => {
    const f = await ownProvider()
    const { aud, ...withoutAudience } = claimsFor(f)
    await expectRefused(f, await sign(withoutAudience), 'wrong_audience')
    const { sub, ...withoutSubject } = claimsFor(f)
    await expectRefused(f, await sign(withoutSubject), 'token_not_ours')
    expect([aud, sub]).toEqual(['web', '1'])
  })
})

describe('client and user of the token', () => {
  test('4.9 rejects an unknown client, even if the token names it', async () => {
    const f = await ownProvider()
    await expectRefused(f, await sign({ ...claimsFor(f), aud: 'gone' }), 'client_disabled', 'gone')
  })

  test('4.9 rejects a client that was disabled after the token was issued', async () => {
    const table = new Map(clients.map((client) => [client.clientId, client]))
    const f = await ownProvider({ clients: { find: (id) => table.get(id) } })
    const token = await sign(claimsFor(f))
    expect((await validate(f, token)).status).toBe(200)
    table.set('web', { ...(table.get('web') as ClientOptions), enabled: false })
    await expectRefused(f, token, 'client_disabled')
  })

  test('4.12 rejects a user who is no longer active, and does not cache that result', async () => {
    const f = await ownProvider()
    const token = await sign(claimsFor(f))
    expect((await validate(f, token)).status).toBe(200)
    Object.assign(f.users.alice ?? {}, { active: false })
    await expectRefused(f, token, 'user_inactive')
    Object.assign(f.users.alice ?? {}, { active: true })
    expect((await validate(f, token)).status).toBe(200)
  })

  test('4.12 rejects a user who does not exist', async () => {
    const f = await ownProvider()
    await expectRefused(f, await sign({ ...claimsFor(f), sub: '404' }), 'user_inactive')
  })

  test('4.12 without isActive() every user is active', async () => {
    const f = await ownProvider({ users: { authenticate: () => undefined } })
    expect((await validate(f, await sign({ ...claimsFor(f), sub: '404' }))).status).toBe(200)
  })
})
