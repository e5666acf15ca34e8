/**
 * Attack: the holder of a stolen code is not the client it was issued to: another registered client, a caller without a
 * secret, or a page that got the code through a look-alike redirect URI (code injection).
 *
 * RFC 6749 section 4.1.3: the code is bound to the client, and redirect_uri must be identical; RFC 9700 section 4.1.3:
 * exact string comparison. That a failed attempt neither spends the code nor revokes anything (otherwise an attacker
 * could lock out the client) is hardening.
 */
import { expect, test } from 'vitest'
import {
  api1,
  type Fixture,
  fixture,
  lastReason,
  otherClient,
  redirectUri,
  spaClientId,
  web,
} from '../support/fixture.ts'

const form = (code: string, more: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  ...more,
})

/** The client redeems its code after the attack: the code works, and nothing counted as a replay. */
async function expectUnharmed(f: Fixture, code: string): Promise<void> {
  const legitimate = await f.post('token', form(code), web)
  expect(legitimate.status).toBe(200)
  const types = f.events.map(({ type }) => type)
  expect(types).not.toContain('code_replayed')
  expect(types).not.toContain('family_revoked')
  expect((await f.post('introspection', { token: legitimate.body.access_token }, api1)).body.active).toBe(true)
}

test('another confidential client can neither redeem nor spend the code', async () => {
  const f = await fixture()
  const code = await f.code()
  const theft = await f.post('token', form(code), otherClient)
  expect(theft.status).toBe(400)
  expect(theft.body.error).toBe('invalid_grant')
  expect(lastReason(f)).toBe('client_mismatch')
  await expectUnharmed(f, code)
})

test('a public client cannot redeem the code of a confidential one, with or without a verifier', async () => {
  const f = await fixture()
  const code = await f.code()
  for (const more of [{}, { code_verifier: 'v'.repeat(43) }]) {
    const theft = await f.post('token', form(code, { client_id: spaClientId, ...more }))
    expect(theft.body.error).toBe('invalid_grant')
  }
  await expectUnharmed(f, code)
})

test.each([
  { who: 'absent', more: {} },
  { who: 'the client id alone', more: { client_id: web[0] } },
  { who: 'a wrong secret', more: { client_id: web[0], client_secret: 'wrong' } },
  { who: 'the secret of another client', more: { client_id: web[0], client_secret: otherClient[1] } },
])('$who can neither redeem nor spend the code', async ({ more }) => {
  const f = await fixture()
  const code = await f.code()
  const theft = await f.post('token', form(code, more))
  expect(theft.status).toBe(401)
  expect(theft.body.error).toBe('invalid_client')
  await expectUnharmed(f, code)
})

test.each([
  'https://web.example.com/callback/',
  'https://web.example.com/Callback',
  'https://WEB.example.com/callback',
  'https://web.example.com:443/callback',
  'https://web.example.com/%63allback',
  'https://web.example.com/callback?x=1',
  'https://web.example.com/callback#',
  'https://web.example.com/a/../callback',
  'https://web.example.com/callback\n',
  ' https://web.example.com/callback',
  'https://web.example.com.evil.example/callback',
  'https://web.example.com@evil.example/callback',
  'http://web.example.com/callback',
  'https://other.example.com/callback',
])('rejects the redirect_uri %j, which is not that of the code', async (uri) => {
  const f = await fixture()
  const code = await f.code()
  const theft = await f.post('token', form(code, { redirect_uri: uri }), web)
  expect(theft.status).toBe(400)
  expect(theft.body.error).toBe('invalid_grant')
  expect(lastReason(f)).toBe('plugin:authorization_code:redirect_uri_mismatch')
  await expectUnharmed(f, code)
})

test('rejects a code with another registered redirect URI than it was sent to', async () => {
  const f = await fixture()
  const code = await f.code({ clientId: otherClient[0], redirectUri: 'https://other.example.com/callback' })
  const theft = await f.post('token', form(code), otherClient)
  expect(theft.body.error).toBe('invalid_grant')
  expect(lastReason(f)).toBe('plugin:authorization_code:redirect_uri_mismatch')
})

test('rejects the code without a redirect_uri', async () => {
  const f = await fixture()
  const code = await f.code()
  const theft = await f.post('token', { grant_type: 'authorization_code', code }, web)
  expect(theft.status).toBe(400)
  expect(theft.body).toEqual({
    error: 'invalid_request',
    error_description: 'The parameter redirect_uri is required',
  })
  await expectUnharmed(f, code)
})

test.each([
  { attack: 'another client', as: otherClient, uri: redirectUri },
  { attack: 'a wrong redirect_uri', as: web, uri: 'https://evil.example/callback' },
])('a replay by $attack does not revoke the tokens of the client', async ({ as, uri }) => {
  const f = await fixture()
  const code = await f.code()
  const legitimate = await f.post('token', form(code), web)
  const replay = await f.post('token', form(code, { redirect_uri: uri }), as)
  expect(replay.body.error).toBe('invalid_grant')
  expect((await f.post('introspection', { token: legitimate.body.access_token }, api1)).body.active).toBe(true)
  expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
})
