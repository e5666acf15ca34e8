import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  alteration,
  expiry,
  inactiveUser,
  lostClient,
  revokedFamily,
  type Verdict,
} from '../endpoints/token-endings.ts'
import { formats } from '../support/access-token.ts'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

async function expectInactive(f: Fixture, token: string, reason: string, hint = 'access_token'): Promise<void> {
  const response = await f.post('introspection', { token, token_type_hint: hint }, api1)
  expect(response.status).toBe(200)
  expect(response.body).toEqual({ active: false })
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(f.events.at(-2)).toMatchObject({ type: 'introspection_inactive', scope: 'api1', reason })
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_succeeded', status: 200 })
}

const verdict: Verdict = {
  scope: 'openid api1',
  accepted: async (f, token) => expect(await isActive(f, token)).toBe(true),
  refused: expectInactive,
}

describe.each(formats)('a %s', (_, client) => {
  test('7.7 is active until the second before exp, and no longer', () => expiry(verdict, client))

  test('7.7 is inactive once its family is revoked', () => revokedFamily(verdict, client))

  test('7.7 is inactive once its refresh token was reused', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: client[0] })
    const first = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, client)
    const refresh = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }
    const second = await f.post('token', refresh, client)
    expect(await isActive(f, first.body.access_token)).toBe(true)
    expect(await isActive(f, second.body.access_token)).toBe(true)
    f.clock.advance(10)
    expect((await f.post('token', refresh, client)).body.error).toBe('invalid_grant')
    await expectInactive(f, first.body.access_token, 'family_revoked')
    await expectInactive(f, second.body.access_token, 'family_revoked')
  })

  test('7.7 is inactive once its client is disabled or gone', () => lostClient(verdict, client))

  test('7.7 is inactive while its user is inactive', () => inactiveUser(verdict, client))

  test('7.7 is inactive when one character is changed', () => alteration(verdict, client))
})

test.each(['x', ' ', 'a.b.c', '..', 'ä', '\u0000', 'x'.repeat(512), 'x'.repeat(513), 'a.b.'.repeat(15_000)])(
  '7.7 a text that is not a token is inactive (%#)',
  async (token) => {
    await expectInactive(await fixture(), token, 'token_unknown')
  },
)

test.each(['access_token', 'refresh_token', 'id_token', 'authorization_code'])(
  '7.7 a code, a refresh token and an identity token are inactive, also with the hint %s',
  async (hint) => {
    const f = await fixture()
    const code = await f.code()
    await expectInactive(f, code, 'token_unknown', hint)
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { refresh_token, id_token, access_token } = (await f.post('token', form, web)).body
    await expectInactive(f, refresh_token, 'token_unknown', hint)
    await expectInactive(f, id_token, 'token_unknown', hint)
    // Introspection has spent and revoked nothing.
    expect(await isActive(f, access_token)).toBe(true)
    expect((await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)).status).toBe(200)
  },
)

test.each([
  ['another typ', { typ: 'JWT' }, {}, 'token_unknown'],
  ['another issuer', {}, { iss: 'https://elsewhere.example.com' }, 'token_unknown'],
  ['another audience', {}, { aud: 'https://elsewhere.example.com' }, 'wrong_audience'],
  ['a start in the future', {}, { nbf: 1_800_000_006 }, 'token_unknown'],
  ['an end in the past', {}, { exp: 1_800_000_000 }, 'token_unknown'],
  ['no end', {}, { exp: undefined }, 'token_unknown'],
  ['an unknown client', {}, { client_id: 'gone' }, 'client_disabled'],
  ['an unknown user', {}, { sub: '404' }, 'user_inactive'],
])('7.7 a JWT signed with our key with %s is inactive', async (_, { typ }: { typ?: string }, claims, reason) => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const f = await fixture({ keys: [{ ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }] })
  const now = f.clock.now()
  const base = { iss: 'https://id.example.com', aud: 'https://api1.example.com', client_id: 'web', scope: 'api1' }
  const sign = (payload: JWTPayload, header = 'at+jwt') =>
    new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: header }).sign(privateKey)
  const rightful = { ...base, iat: now, nbf: now, exp: now + 60 }
  expect(await isActive(f, await sign(rightful))).toBe(true)
  await expectInactive(f, await sign({ ...rightful, ...claims } as JWTPayload, typ), reason)
})
