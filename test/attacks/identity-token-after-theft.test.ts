/**
 * Attack: an attacker redeems a stolen code, or a stolen refresh token, and keeps the identity token. The theft is
 * noticed: the code or the refresh token is replayed, or the family is revoked. A relying party without a JWT library
 * calls the validation endpoint, which must reject the identity token as it rejects the access token of the same
 * authorization.
 *
 * RFC 6749 section 4.1.2; RFC 9700 section 4.14.2; wire contract, section 4.
 */
import { createTestClock, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
}

const redeem = (f: Fixture, code: string, as = web) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, as)

const refresh = (f: Fixture, token: string, as = web) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token }, as)

const validate = (f: Fixture, token: string, as = web) => f.post('identityTokenValidation', { token, client_id: as[0] })

async function login(f: Fixture, as = web) {
  const code = await f.code({ clientId: as[0] })
  const { body } = await redeem(f, code, as)
  return { code, tokens: body as Tokens }
}

/** Rejected with the text of every other error, with the reason in the events only. */
async function expectRevoked(f: Fixture, token: string, as = web): Promise<void> {
  const { status, body } = await validate(f, token, as)
  expect([status, body]).toEqual([
    400,
    { error: 'invalid_token', error_description: 'The identity token is not valid' },
  ])
  expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', reason: 'family_revoked' })
}

describe.each([
  { format: 'reference tokens', as: web },
  { format: 'JWTs', as: webJwt },
])('identity tokens of a client with $format', ({ as }) => {
  test('4.18 are rejected after a replay of the code', async () => {
    const f = await fixture()
    const { code, tokens } = await login(f, as)
    expect((await validate(f, tokens.id_token, as)).status).toBe(200)
    expect((await redeem(f, code, as)).status).toBe(400)
    await expectRevoked(f, tokens.id_token, as)
  })

  test('4.18 are rejected after a replay of a refresh token, including those that a refresh has issued', async () => {
    const f = await fixture()
    const { tokens } = await login(f, as)
    const second: Tokens = (await refresh(f, tokens.refresh_token, as)).body
    f.clock.advance(10)
    expect((await validate(f, second.id_token, as)).status).toBe(200)
    expect((await refresh(f, tokens.refresh_token, as)).status).toBe(400)
    for (const token of [tokens.id_token, second.id_token]) await expectRevoked(f, token, as)
  })

  test('4.18 are rejected after the client has revoked the refresh token', async () => {
    const f = await fixture()
    const { tokens } = await login(f, as)
    expect((await f.post('revocation', { token: tokens.refresh_token }, as)).status).toBe(200)
    await expectRevoked(f, tokens.id_token, as)
  })

  test('4.18 are rejected after the host has revoked the family, named by the identity token itself', async () => {
    const f = await fixture()
    const { tokens } = await login(f, as)
    const { family } = await f.provider.inspect(tokens.id_token)
    expect(family).toBe((await f.provider.inspect(tokens.access_token)).family)
    await f.provider.revoke({ family: family ?? '' })
    await expectRevoked(f, tokens.id_token, as)
    expect(await f.provider.inspect(tokens.id_token)).toMatchObject({ valid: false, reason: 'family_revoked' })
    expect((await f.post('introspection', { token: tokens.access_token }, api1)).body.active).toBe(false)
  })
})

test('4.18 another login of the same user and client stays valid', async () => {
  const f = await fixture()
  const { code, tokens } = await login(f)
  const another = await login(f)
  await redeem(f, code)
  await expectRevoked(f, tokens.id_token)
  expect((await validate(f, another.tokens.id_token)).status).toBe(200)
})

test('4.18 a code without offline_access has a family too', async () => {
  const f = await fixture()
  const code = await f.code({ scopes: ['openid'] })
  const { body } = await redeem(f, code)
  expect((await validate(f, body.id_token)).status).toBe(200)
  await redeem(f, code)
  await expectRevoked(f, body.id_token)
})

describe('an identity token that outlives the access tokens of its client', () => {
  const day = 86_400

  async function longLived(scopes: readonly string[]) {
    const clock = createTestClock()
    const client = { ...clients[0], clientId: web[0], accessTokenLifetime: 60, identityTokenLifetime: 5 * day }
    const refreshToken = { absoluteLifetime: 60, slidingLifetime: 60 }
    // The store expires records by the same clock, so ended records are gone.
    const storage = mapDriver(new Map(), clock.now)
    const f = await fixture({ storage, runtime: { now: clock.now }, clients: [{ ...client, refreshToken }] })
    const code = await f.code({ scopes: [...scopes] })
    const { body } = await redeem(f, code)
    return { f, clock, code, tokens: body as Tokens }
  }

  test('4.18 is rejected until its last second after a replay of the code', async () => {
    const { f, clock, code, tokens } = await longLived(['openid'])
    await redeem(f, code)
    clock.advance(4 * day)
    await expectRevoked(f, tokens.id_token)
    clock.advance(day - 1)
    await expectRevoked(f, tokens.id_token)
  })

  test('4.18 is rejected when the replay of the code comes days later', async () => {
    const { f, clock, code, tokens } = await longLived(['openid'])
    clock.advance(4 * day)
    expect((await validate(f, tokens.id_token)).status).toBe(200)
    await redeem(f, code)
    await expectRevoked(f, tokens.id_token)
  })

  test('4.18 is rejected when the replay of the refresh token comes days later', async () => {
    const { f, clock, tokens } = await longLived(['openid', 'offline_access'])
    const second: Tokens = (await refresh(f, tokens.refresh_token)).body
    clock.advance(4 * day)
    expect((await validate(f, second.id_token)).status).toBe(200)
    await refresh(f, tokens.refresh_token)
    await expectRevoked(f, second.id_token)
  })
})
