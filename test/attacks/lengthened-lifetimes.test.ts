// Attack: a thief holds a successor of a refresh token from the days when lifetimes were short. The operator lengthens them, the theft is noticed, and the family is revoked by an
// elder token, whose record still promises the short life. When the mark is swept away, the successor rises.
import type { ClientOptions } from '@grantry/core'
import { createTestClock, mapDriver } from '@grantry/core/testing'
import { expect, test } from 'vitest'
import { clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'
import { expectDone, issueTokens, refresh } from '../support/revocation.ts'

const day = 86_400

const webWith = (lifetime: number): ClientOptions => ({
  ...clients[0],
  clientId: web[0],
  refreshToken: { absoluteLifetime: lifetime, slidingLifetime: lifetime },
})

/** Two releases of one host on one store: lifetimes of a day before, of 30 days after. */
async function lengthened() {
  const clock = createTestClock()
  const storage = mapDriver(new Map(), clock.now)
  const start = (lifetime: number) => fixture({ storage, runtime: { now: clock.now }, clients: [webWith(lifetime)] })
  return { clock, before: await start(day), after: await start(30 * day) }
}

async function expectStaysDead(f: Fixture, token: string, advance: (seconds: number) => void): Promise<void> {
  for (const wait of [0, 3 * day, 10 * day]) {
    advance(wait)
    expect((await refresh(f, token)).status).toBe(400)
  }
}

test('a revocation by an elder token ends the family for good', async () => {
  const { clock, before, after } = await lengthened()
  const first = await issueTokens(before)
  const second = (await refresh(after, first.refresh_token)).body
  clock.advance(60)
  expectDone(await after.post('revocation', { token: first.refresh_token }, web))
  await expectStaysDead(after, second.refresh_token, clock.advance)
})

test('a replay of an elder token does the same', async () => {
  const { clock, before, after } = await lengthened()
  const first = await issueTokens(before)
  const second = (await refresh(after, first.refresh_token)).body
  clock.advance(60)
  expect((await refresh(after, first.refresh_token)).status).toBe(400)
  await expectStaysDead(after, second.refresh_token, clock.advance)
})

test('and so does a replay of the code', async () => {
  const { clock, before, after } = await lengthened()
  const form = { grant_type: 'authorization_code', code: await before.code(), redirect_uri: redirectUri }
  const first = (await before.post('token', form, web)).body
  const second = (await refresh(after, first.refresh_token)).body
  clock.advance(60)
  expect((await after.post('token', form, web)).status).toBe(400)
  await expectStaysDead(after, second.refresh_token, clock.advance)
})
