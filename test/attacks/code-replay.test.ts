/**
 * Attack: an attacker reads an authorization code (browser history, referrer, proxy log) and sends it again after the
 * client has used it: immediately, after the minute in which it could be redeemed, and after the theft was noticed.
 *
 * RFC 6749 section 4.1.2: a code is used once; on a second use the server MUST deny and SHOULD revoke every token that
 * came from it. That a replay is still recognized after the code's own 60 seconds, and that all error responses are the
 * same, is hardening.
 */
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, lastReason, redirectUri, web, webJwt } from '../support/fixture.ts'

const redeem = (f: Fixture, code: string, as = web) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, as)
const revocations = (f: Fixture): number => f.events.filter(({ type }) => type === 'family_revoked').length

/** Whether the tokens of a response still work, at any endpoint that takes a token. */
async function alive(f: Fixture, tokens: { access_token: string; refresh_token: string }, as = web) {
  const { access_token: token, refresh_token } = tokens
  const userinfo = await f.get('userinfo', {}, { authorization: `Bearer ${token}` })
  const introspection = await f.post('introspection', { token }, api1)
  const validation = await f.post('accessTokenValidation', { token })
  const refreshed = await f.post('token', { grant_type: 'refresh_token', refresh_token }, as)
  return {
    userinfo: userinfo.status === 200,
    introspection: introspection.body.active,
    validation: validation.status === 200,
    refresh: refreshed.status === 200,
  }
}
const dead = { userinfo: false, introspection: false, validation: false, refresh: false }

describe.each([
  { format: 'reference', as: web },
  { format: 'JWT', as: webJwt },
])('a code whose tokens are $format', ({ as }) => {
  test.each([
    { when: 'immediately', seconds: 0 },
    { when: 'in its last second', seconds: 59 },
    { when: 'in the second in which it ends', seconds: 60 },
    { when: 'late, when it can no longer be redeemed', seconds: 61 },
    { when: 'in the last second of its retention', seconds: 3600 + 59 },
  ])('a replay $when is rejected and revokes every token of the code', async ({ seconds }) => {
    const f = await fixture()
    const code = await f.code({ clientId: as[0] })
    const first = await redeem(f, code, as)
    expect(first.status).toBe(200)
    f.clock.advance(seconds)

    const replay = await redeem(f, code, as)

    expect(replay.status).toBe(400)
    expect(replay.body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('code_replayed')
    expect(await alive(f, first.body, as)).toEqual(dead)
  })
})

test('the tokens are valid until the replay: the checks above can detect it', async () => {
  const f = await fixture()
  const first = await redeem(f, await f.code())
  expect(await alive(f, first.body)).toEqual({ userinfo: true, introspection: true, validation: true, refresh: true })
})

test('tokens refreshed since are revoked with the code too', async () => {
  const f = await fixture()
  const code = await f.code()
  const first = await redeem(f, code)
  const second = await f.post('token', { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }, web)
  expect(second.status).toBe(200)
  await redeem(f, code)
  expect(await alive(f, second.body)).toEqual(dead)
})

test('a replay after the family is revoked is rejected and revokes nothing more', async () => {
  const f = await fixture()
  const code = await f.code()
  await redeem(f, code)
  await redeem(f, code)
  expect(revocations(f)).toBe(1)
  const third = await redeem(f, code)
  expect(third.status).toBe(400)
  expect(third.body.error).toBe('invalid_grant')
  expect(revocations(f)).toBe(1)
})

test('a replay after the retention is rejected as an unknown code', async () => {
  const f = await fixture()
  const code = await f.code()
  await redeem(f, code)
  // The code had a refresh token, so it is remembered for the lifetime of that token's family.
  f.clock.advance(60 + 2_592_000 + 3600)
  expect((await redeem(f, code)).body.error).toBe('invalid_grant')
  expect(lastReason(f)).toBe('plugin:authorization_code:code_unknown')
})

test('a replay revokes only its own family', async () => {
  const f = await fixture()
  const [stolen, untouched] = [await f.code(), await f.code()]
  await redeem(f, stolen)
  const unaffected = await redeem(f, untouched)
  await redeem(f, stolen)
  expect((await f.post('introspection', { token: unaffected.body.access_token }, api1)).body.active).toBe(true)
})

test('unknown, expired, foreign and spent codes get the same error', async () => {
  const f = await fixture()
  const [spent, expired, foreign] = [await f.code(), await f.code(), await f.code({ clientId: webJwt[0] })]
  await redeem(f, spent)
  const responses = [await redeem(f, 'no-such-code'), await redeem(f, spent), await redeem(f, foreign)]
  f.clock.advance(60)
  responses.push(await redeem(f, expired))
  const [unknown] = responses
  expect(unknown?.body.error).toBe('invalid_grant')
  for (const response of responses) expect(response).toMatchObject({ status: 400, body: unknown?.body })
})
