import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

// All events of one authorization have the same family value, so that a timeline can be drawn from them; none contains
// the identifier of the family.

async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('hex').slice(0, 8)
}

const familiesOf = ({ events }: Fixture, type: string): readonly unknown[] =>
  events.filter((event) => event.type === type).map((event) => ('family' in event ? event.family : undefined))

const refresh = (f: Fixture, refresh_token: string, more: Record<string, string> = {}, client = webJwt) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token, ...more }, client)

async function redeemed(f: Fixture, client = webJwt) {
  const form = {
    grant_type: 'authorization_code',
    code: await f.code({ clientId: client[0] }),
    redirect_uri: redirectUri,
  }
  const { body } = await f.post('token', form, client)
  return { body, form }
}

test('issued, rotated, retried, reused and revoked: every event of one authorization names its family', async () => {
  const f = await fixture()
  const { body } = await redeemed(f)
  const family = await fingerprint(String(decodeJwt(body.access_token).grant_id))
  await refresh(f, body.refresh_token)
  await refresh(f, body.refresh_token)
  await refresh(f, body.refresh_token, { scope: 'api1' })
  expect(familiesOf(f, 'code_issued')).toEqual([family])
  expect(familiesOf(f, 'code_redeemed')).toEqual([family])
  expect(familiesOf(f, 'token_issued')).toEqual(Array.from({ length: 6 }, () => family))
  for (const type of ['refresh_rotated', 'refresh_retried', 'refresh_reused', 'family_revoked']) {
    expect(familiesOf(f, type)).toEqual([family])
  }
})

test('a family that its operator revokes has the same name in all of its events', async () => {
  const f = await fixture()
  const { body } = await redeemed(f)
  await f.provider.revoke({ family: String(decodeJwt(body.access_token).grant_id) })
  expect(familiesOf(f, 'family_revoked')).toEqual(familiesOf(f, 'code_issued'))
})

test('a replayed code names the family of its tokens', async () => {
  const f = await fixture()
  const { form } = await redeemed(f)
  await f.post('token', form, webJwt)
  const [family] = familiesOf(f, 'code_issued')
  expect(family).toMatch(/^[0-9a-f]{8}$/u)
  expect(familiesOf(f, 'code_replayed')).toEqual([family])
  expect(familiesOf(f, 'family_revoked')).toEqual([family])
})

test.each([
  ['JWT', webJwt],
  ['reference token', web],
] as const)('a token that its client revokes names its family (%s)', async (_, client) => {
  const f = await fixture()
  const { body } = await redeemed(f, client)
  const [family] = familiesOf(f, 'code_issued')
  await f.post('revocation', { token: body.access_token }, client)
  await f.post('revocation', { token: body.refresh_token }, client)
  expect(familiesOf(f, 'token_revoked')).toEqual([family, family])
})

test('a token without a family names none, and two authorizations name two', async () => {
  const f = await fixture()
  await f.post('token', { grant_type: 'client_credentials', scope: 'api2' }, web)
  expect(familiesOf(f, 'token_issued')).toEqual([undefined])
  await redeemed(f)
  await redeemed(f)
  expect(new Set(familiesOf(f, 'code_redeemed')).size).toBe(2)
})

test('no event holds the identifier of a family itself', async () => {
  const f = await fixture()
  const { body } = await redeemed(f)
  await refresh(f, body.refresh_token)
  await f.post('revocation', { token: body.refresh_token }, webJwt)
  const grantId = String(decodeJwt(body.access_token).grant_id)
  expect(grantId.length).toBeGreaterThan(16)
  expect(JSON.stringify(f.events)).not.toContain(grantId)
})
