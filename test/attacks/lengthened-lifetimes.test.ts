// Attack: an attacker holds a successor of a refresh token issued when lifetimes were short. The operator lengthens
// them, the theft is noticed, and the family is revoked through an older token, whose record still has the short
// lifetime. When the revocation record expires, the successor must not become valid again.
import type { ClientOptions } from '@grantry/core'
import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'
import { expectRevoked, issueTokens, refresh } from '../support/revocation.ts'

const day = 86_400

const webWith = (lifetime: number): ClientOptions => ({
  ...clients[0],
  clientId: web[0],
  refreshToken: { absoluteLifetime: lifetime, slidingLifetime: lifetime },
})

/** Two releases of one host on one store: first lifetimes of a day, then of 30 days. */
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

test('a revocation through an older token ends the family permanently', async () => {
  const { clock, before, after } = await lengthened()
  const first = await issueTokens(before)
  const second = (await refresh(after, first.refresh_token)).body
  clock.advance(60)
  expectRevoked(await after.post('revocation', { token: first.refresh_token }, web))
  await expectStaysDead(after, second.refresh_token, clock.advance)
})

test('a replay of an older token ends the family permanently', async () => {
  const { clock, before, after } = await lengthened()
  const first = await issueTokens(before)
  const second = (await refresh(after, first.refresh_token)).body
  clock.advance(60)
  expect((await refresh(after, first.refresh_token)).status).toBe(400)
  await expectStaysDead(after, second.refresh_token, clock.advance)
})

test('a replay of the code ends the family permanently', async () => {
  const { clock, before, after } = await lengthened()
  const form = { grant_type: 'authorization_code', code: await before.code(), redirect_uri: redirectUri }
  const first = (await before.post('token', form, web)).body
  const second = (await refresh(after, first.refresh_token)).body
  clock.advance(60)
  expect((await after.post('token', form, web)).status).toBe(400)
  await expectStaysDead(after, second.refresh_token, clock.advance)
})
