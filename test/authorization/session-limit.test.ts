import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, userSessions } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver, type TestProviderOptions } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { withLatency } from '../support/latency.ts'
import { answer } from './browser.ts'
import { ownPages, setUpPages } from './own-pages.ts'

type Browser = ReturnType<Awaited<ReturnType<typeof setUpPages>>['browser']>

/** A provider that limits the sessions of a user, and offers the kit of its authorization endpoint. */
async function setUpLimit(maxPerUser: number, more: Partial<TestProviderOptions> = {}) {
  const features = [{ parts: () => [offerKit('authorization-endpoint')] }]
  const endpoint = authorizationEndpoint({ interaction: ownPages, features, sessions: { maxPerUser } })
  const f = await setUpPages({}, { plugins: [authorizationCode(), proofKey(), refreshToken(), endpoint], ...more })
  const isLive = async (browser: Browser) => 'code' in answer(await f.ask(browser, { prompt: 'none' }))
  const live = async (browsers: readonly Browser[]) => (await Promise.all(browsers.map(isLive))).filter(Boolean).length
  const browsers = (count: number) => Array.from({ length: count }, () => f.browser())
  return { ...f, isLive, live, browsers, sessions: f.provider.use(userSessions) }
}

describe.each([1, 3])('with %i sessions for a user', (limit) => {
  test('11.28 sign-ins at the same moment, in two processes, do not exceed the limit; all are in the list', async () => {
    const storage = withLatency(memoryDriver())
    const [f, otherProcess] = [await setUpLimit(limit, { storage }), await setUpLimit(limit, { storage })]
    const [here, there] = [f.browsers(10), otherProcess.browsers(10)]
    await Promise.all([
      ...here.map((browser) => f.signIn(browser)),
      ...there.map((browser) => otherProcess.signIn(browser)),
    ])
    expect((await f.live(here)) + (await otherProcess.live(there))).toBe(limit)
    expect(await f.sessions.list('alice')).toHaveLength(limit)
    expect(await f.sessions.endAll('alice')).toBe(limit)
    expect((await f.live(here)) + (await otherProcess.live(there))).toBe(0)
  })

  test('11.28 a session that ends at the moment of other sign-ins takes none of them from the list', async () => {
    const f = await setUpLimit(limit, { storage: withLatency(memoryDriver()) })
    const [early, late] = [f.browsers(limit), f.browsers(10)]
    for (const browser of early) await f.signIn(browser)
    const sids = (await f.sessions.list('alice')).map(({ sid }) => sid)
    expect(sids).toHaveLength(limit)
    await Promise.all([
      ...sids.map((sid) => f.sessions.end(sid)),
      // These continue with their sessions, which end.
      ...early.slice(1).map((browser) => f.signIn(browser, 'alice', { prompt: 'login' })),
      ...late.map((browser) => f.signIn(browser)),
    ])
    const live = await f.live([...early, ...late])
    expect(live).toBeLessThanOrEqual(limit)
    expect(live).toBeGreaterThan(0)
    expect(await f.sessions.list('alice')).toHaveLength(live)
  })
})

test.each([1, 2, 3])(
  '11.28 users who send a sign-in twice can sign in again immediately: %i sessions',
  async (limit) => {
    const storage = withLatency(memoryDriver())
    const [f, otherProcess] = [await setUpLimit(limit, { storage }), await setUpLimit(limit, { storage })]
    const [early, late] = [f.browsers(limit), otherProcess.browsers(4)]
    for (const browser of early) await f.signIn(browser)
    await Promise.all([
      ...early.flatMap((browser) =>
        [f, otherProcess].map(({ signIn }) => signIn(browser, 'alice', { prompt: 'login' })),
      ),
      ...late.map((browser) => otherProcess.signIn(browser)),
    ])
    const live = await f.live([...early, ...late])
    expect(live).toBeLessThanOrEqual(limit)
    const [phone] = f.browsers(1)
    if (phone === undefined) throw new Error('no browser')
    await f.signIn(phone)
    expect(await f.isLive(phone)).toBe(true)
  },
)

test('11.28 a process that dies while it ends a session delays other sign-ins by no more than a minute', async () => {
  const { browser, signIn, isLive, clock, sessions, provider } = await setUpLimit(1)
  const [laptop, phone] = [browser(), browser()]
  await signIn(laptop)
  // What a sign-in does first.
  const { records, now } = kitOf(provider, 'authorization-endpoint')
  const members = v.tuple([v.object({ member: v.string(), expiresAt: v.number() })])
  let isMarked = false
  await records.update('sessions of alice', members, (present) => {
    if (present === undefined) return undefined
    isMarked = true
    const [place] = present
    return { value: [{ ...place, leaving: { id: 'that process', since: now() } }], expiresAt: place.expiresAt }
  })
  expect(isMarked).toBe(true)
  await signIn(phone)
  expect([await isLive(laptop), await isLive(phone)]).toEqual([true, false])
  clock.advance(60)
  await signIn(phone)
  expect([await isLive(laptop), await isLive(phone)]).toEqual([false, true])
  expect(await sessions.list('alice')).toHaveLength(1)
})

test('11.28 sessions that began with a higher limit continue; endAll ends them, too', async () => {
  const storage = mapDriver()
  const [before, after] = [await setUpLimit(10, { storage }), await setUpLimit(2, { storage })]
  const old = before.browsers(10)
  for (const browser of old) await before.signIn(browser)
  const [late] = after.browsers(1)
  if (late === undefined) throw new Error('no browser')
  await after.signIn(late)
  expect(await after.isLive(late)).toBe(true)
  expect(await before.live(old)).toBeGreaterThan(2)
  await after.sessions.endAll('alice')
  expect([await before.live(old), await after.isLive(late)]).toEqual([0, false])
})

test('11.28 a session that two processes end at the same moment ends once in the events', async () => {
  const storage = withLatency(memoryDriver())
  const [f, otherProcess] = [await setUpLimit(3, { storage }), await setUpLimit(3, { storage })]
  const endings = () => [...f.events, ...otherProcess.events].filter(({ type }) => type === 'session_ended')
  for (let round = 1; round <= 5; round += 1) {
    await f.signIn(f.browser())
    const [{ sid } = { sid: '' }] = await f.sessions.list('alice')
    await Promise.all([f, otherProcess, f].map(({ sessions }) => sessions.end(sid)))
    expect(endings()).toHaveLength(round)
    expect(await f.sessions.list('alice')).toEqual([])
  }
  expect(new Set(endings().map((event) => 'sid' in event && event.sid)).size).toBe(5)
})
