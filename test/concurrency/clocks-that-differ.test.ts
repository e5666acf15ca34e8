// Servers on one store whose clocks differ by some seconds. A revocation that one of them acknowledges applies at all
// of them.
import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'
import { expectRevoked, formats } from '../support/revocation.ts'

const form = { grant_type: 'client_credentials', scope: 'api1' }

/** The clock of the store is `clock`, and that of `right`. */
async function skewed(seconds: number) {
  const clock = createTestClock()
  const storage = mapDriver(new Map(), clock.now)
  const ahead = await fixture({ storage, runtime: { now: () => clock.now() + seconds } })
  const right = await fixture({ storage, runtime: { now: clock.now } })
  return { clock, ahead, right }
}

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

test('a token of a server whose clock is 5 seconds ahead is valid elsewhere, and one of 6 seconds is not', async () => {
  for (const [seconds, expected] of [
    [1, true],
    [5, true],
    [6, false],
  ] as const) {
    const { ahead, right } = await skewed(seconds)
    const { access_token: token } = (await ahead.post('token', form, webJwt)).body
    expect([seconds, await isActive(right, token)]).toEqual([seconds, expected])
    const redemption = { grant_type: 'authorization_code', code: await ahead.code(), redirect_uri: redirectUri }
    const { id_token } = (await ahead.post('token', redemption, web)).body
    const { status } = await right.post('identityTokenValidation', { token: id_token, client_id: web[0] })
    expect([seconds, status]).toEqual([seconds, expected ? 200 : 400])
  }
})

test('a JWT revoked at a server where its nbf is in the future is not valid once nbf is reached', async () => {
  const { clock, ahead, right } = await skewed(2)
  const { access_token: token } = (await ahead.post('token', form, webJwt)).body
  expectRevoked(await right.post('revocation', { token }, webJwt))
  clock.advance(3)
  expect([await isActive(ahead, token), await isActive(right, token)]).toEqual([false, false])
})

test('a JWT revoked at a server with a faster clock is invalid until its last second at a slower one', async () => {
  const { clock, ahead, right } = await skewed(5)
  const { access_token: token, expires_in: life } = (await right.post('token', form, webJwt)).body
  expectRevoked(await ahead.post('revocation', { token }, webJwt))
  clock.advance(life - 3)
  expect(await isActive(right, token)).toBe(false)
})

test.each(formats)(
  'a token (%s) that has just expired at one server is revoked where it has not',
  async (_format, as) => {
    const { clock, ahead, right } = await skewed(5)
    const { access_token: token, expires_in: life } = (await right.post('token', form, as)).body
    clock.advance(life - 3)
    expectRevoked(await ahead.post('revocation', { token }, as))
    expect(await isActive(right, token)).toBe(false)
  },
)
