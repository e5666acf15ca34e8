// Attack: a code leaks (a log, a referrer, a shared history) and is redeemed a second time, with its client's own
// credentials.
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, proof, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'

const grant = { grant_type: 'authorization_code', redirect_uri: redirectUri }

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

const refresh = (f: Fixture, token: string, as = web) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token }, as)

async function redeemed(as = web) {
  const f = await fixture()
  const code = await f.code({ clientId: as[0] })
  const redeem = () => f.post('token', { ...grant, code }, as)
  const first = await redeem()
  expect(first.status).toBe(200)
  return { f, redeem, tokens: first.body }
}

describe('a replayed code', () => {
  test('3.32 is redeemed once: the replay is rejected', async () => {
    const { f, redeem } = await redeemed()
    const { status, body } = await redeem()
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'code_replayed' })
    expect(f.events.map(({ type }) => type)).toContain('code_replayed')
    expect((await redeem()).body.error).toBe('invalid_grant')
  })

  test('3.32 gets the same error as an unknown code', async () => {
    const { f, redeem } = await redeemed()
    const unknown = await f.post('token', { ...grant, code: 'x'.repeat(43) }, web)
    expect((await redeem()).body).toEqual(unknown.body)
  })

  test('3.33 revokes the reference token that came from the code', async () => {
    const { f, redeem, tokens } = await redeemed()
    expect(await isActive(f, tokens.access_token)).toBe(true)
    await redeem()
    expect(await isActive(f, tokens.access_token)).toBe(false)
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    expect((await f.get('userinfo', {}, headers)).status).toBe(401)
    expect((await f.get('accessTokenValidation', { token: tokens.access_token })).status).toBe(400)
  })

  test('3.33 revokes the JWT access token that came from the code', async () => {
    const { f, redeem, tokens } = await redeemed(webJwt)
    expect(await isActive(f, tokens.access_token)).toBe(true)
    await redeem()
    expect(await isActive(f, tokens.access_token)).toBe(false)
    expect((await f.get('accessTokenValidation', { token: tokens.access_token })).status).toBe(400)
  })

  test('3.33 revokes the refresh token that came from the code', async () => {
    const { f, redeem, tokens } = await redeemed()
    await redeem()
    const { status, body } = await refresh(f, tokens.refresh_token)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
  })

  test('3.33 revokes the successors of the refresh token', async () => {
    const { f, redeem, tokens } = await redeemed()
    f.clock.advance(30)
    const second = (await refresh(f, tokens.refresh_token)).body
    await redeem()
    expect(await isActive(f, second.access_token)).toBe(false)
    expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.33 revokes tokens of a code without offline_access too', async () => {
    const f = await fixture()
    const code = await f.code({ scopes: ['api1'] })
    const { body } = await f.post('token', { ...grant, code }, web)
    await f.post('token', { ...grant, code }, web)
    expect(await isActive(f, body.access_token)).toBe(false)
  })

  test('3.33 is recognized even after the code has expired', async () => {
    const { f, redeem, tokens } = await redeemed()
    f.clock.advance(61)
    expect((await redeem()).body.error).toBe('invalid_grant')
    expect(await isActive(f, tokens.access_token)).toBe(false)
  })

  test('3.33 is recognized while tokens of the code live: two days later the refresh token is revoked', async () => {
    const { f, redeem, tokens } = await redeemed()
    f.clock.advance(2 * 86_400)
    const second = await refresh(f, tokens.refresh_token)
    expect(second.status).toBe(200)
    expect((await redeem()).body.error).toBe('invalid_grant')
    expect(await isActive(f, second.body.access_token)).toBe(false)
  })

  test('3.33 does not affect other codes of the same user and client', async () => {
    const { f, redeem } = await redeemed()
    const { body } = await f.post('token', { ...grant, code: await f.code() }, web)
    await redeem()
    expect(await isActive(f, body.access_token)).toBe(true)
    expect((await refresh(f, body.refresh_token)).status).toBe(200)
  })

  test('3.33 a replay with a wrong redirect_uri revokes nothing', async () => {
    const f = await fixture()
    const code = await f.code()
    const { body } = await f.post('token', { ...grant, code }, web)
    const wrong = { ...grant, code, redirect_uri: 'https://evil.example.com/' }
    expect((await f.post('token', wrong, web)).body.error).toBe('invalid_grant')
    expect(await isActive(f, body.access_token)).toBe(true)
  })

  test('3.33 a replay with a wrong verifier revokes nothing', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
    const form = { ...grant, code, client_id: spaClientId }
    const { body } = await f.post('token', { ...form, code_verifier: proof.verifier })
    expect((await f.post('token', { ...form, code_verifier: 'x'.repeat(43) })).body.error).toBe('invalid_grant')
    expect((await f.post('token', form)).body.error).toBe('invalid_grant')
    expect(await isActive(f, body.access_token)).toBe(true)
    await f.post('token', { ...form, code_verifier: proof.verifier })
    expect(await isActive(f, body.access_token)).toBe(false)
  })
})
