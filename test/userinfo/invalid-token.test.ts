import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  alteration,
  expiry,
  inactiveUser,
  lostClient,
  otherCredentials,
  revokedFamily,
  type Verdict,
} from '../endpoints/token-endings.ts'
import { formats } from '../support/access-token.ts'
import { type Fixture, fixture } from '../support/fixture.ts'

const send = (f: Fixture, token: string) => f.get('userinfo', {}, { authorization: `Bearer ${token}` })

async function expectInvalid(f: Fixture, token: string, reason: string): Promise<void> {
  const inHeader = await send(f, token)
  const inForm = await f.post('userinfo', { access_token: token })
  for (const response of [inHeader, inForm]) {
    expect(response.status).toBe(401)
    // The same bytes for every reason.
    expect(response.body).toEqual({ error: 'invalid_token', error_description: 'The access token is not valid' })
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="https://id.example.com", error="invalid_token", error_description="The access token is not valid"',
    )
  }
  expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', tokenType: 'access_token', reason })
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 401, error: 'invalid_token', reason })
}

const verdict: Verdict = {
  scope: 'openid profile',
  accepted: async (f, token) => expect((await send(f, token)).status).toBe(200),
  refused: expectInvalid,
}

describe.each(formats)('a %s', (_, client) => {
  test('5.7 is valid until the second before exp, and no longer', () => expiry(verdict, client))

  test('5.7 is invalid once its family is revoked', () => revokedFamily(verdict, client))

  test('5.7 is invalid once its client is disabled', () => lostClient(verdict, client))

  test('5.7 is invalid while its user is inactive', () => inactiveUser(verdict, client))

  test('5.7 is invalid when one character is changed', () => alteration(verdict, client))
})

test('5.7 rejects a code, a refresh token and an identity token', () => otherCredentials(verdict))

test('5.7 rejects a token for a foreign audience', async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const f = await fixture({ keys: [{ ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }] })
  const now = f.clock.now()
  const times = { iat: now, nbf: now, exp: now + 60 }
  const ours = { iss: 'https://id.example.com', aud: 'https://id.example.com/resources', client_id: 'web', sub: '1' }
  const sign = (claims: JWTPayload, typ = 'at+jwt') =>
    new SignJWT({ ...times, ...ours, scope: 'openid', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'ours', typ })
      .sign(privateKey)
  expect((await send(f, await sign({}))).status).toBe(200)
  await expectInvalid(f, await sign({ aud: 'https://elsewhere.example.com' }), 'wrong_audience')
  await expectInvalid(f, await sign({ aud: 'web' }), 'wrong_audience')
  await expectInvalid(f, await sign({}, 'JWT'), 'token_unknown')
  await expectInvalid(f, await sign({ iss: 'https://elsewhere.example.com' }), 'token_unknown')
  await expectInvalid(f, await sign({ nbf: now + 6 }), 'token_unknown')
})
