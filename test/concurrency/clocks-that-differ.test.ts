// Servers on one store whose clocks differ by some seconds, as clocks do. A revocation that one of them acknowledges counts at all of them.
import { createTestClock, mapDriver } from '@grantry/core/testing'
import { expect, test } from 'vitest'
import { api1, type Fixture, fixture, webJwt } from '../support/fixture.ts'
import { expectDone, formats } from '../support/revocation.ts'

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

test('a JWT that is revoked where its nbf has not come yet is dead when it comes', async () => {
  const { clock, ahead, right } = await skewed(2)
  const { access_token: token } = (await ahead.post('token', form, webJwt)).body
  expectDone(await right.post('revocation', { token }, webJwt))
  clock.advance(3)
  expect([await isActive(ahead, token), await isActive(right, token)]).toEqual([false, false])
})

test('a JWT that was revoked where it is later is dead to its last second where it is earlier', async () => {
  const { clock, ahead, right } = await skewed(5)
  const { access_token: token, expires_in: life } = (await right.post('token', form, webJwt)).body
  expectDone(await ahead.post('revocation', { token }, webJwt))
  clock.advance(life - 3)
  expect(await isActive(right, token)).toBe(false)
})

test.each(formats)('a token (%s) is revoked where it has just ended for where it has not', async (_format, as) => {
  const { clock, ahead, right } = await skewed(5)
  const { access_token: token, expires_in: life } = (await right.post('token', form, as)).body
  clock.advance(life - 3)
  expectDone(await ahead.post('revocation', { token }, as))
  expect(await isActive(right, token)).toBe(false)
})
