/**
 * Attack: a browser resumes an authorization request twice, at the moment when the request expires. Both calls find the
 * request. The mark of the first one must outlive the second one, which is slow: otherwise one decision of the user gives
 * two codes.
 *
 * Hardening: no specification says how often a page of the authorization server may be answered.
 */
import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { setUpPages } from '../authorization/own-pages.ts'

const lifetime = 60

/** A storage whose next insert waits, once `hold` was called. */
function holdingInserts(now: () => number) {
  const driver = mapDriver(new Map(), now)
  let arrive = () => {}
  let release = () => {}
  let released: Promise<void> | undefined
  return {
    storage: {
      ...driver,
      async insertItem(...item: Parameters<typeof driver.insertItem>) {
        const wait = released
        released = undefined
        arrive()
        await wait
        return driver.insertItem(...item)
      },
    },
    /** Returns when the insert has arrived. */
    hold(): Promise<void> {
      released = new Promise((resolve) => {
        release = resolve
      })
      return new Promise((resolve) => {
        arrive = resolve
      })
    },
    release: () => release(),
  }
}

test.each([2, 59])('a request that is resumed twice at its end gets one code, if a call takes %i s', async (delay) => {
  const clock = createTestClock(1_800_000_000)
  const { storage, hold, release } = holdingInserts(clock.now)
  const f = await setUpPages({ interactionLifetime: lifetime }, { storage, runtime: { now: clock.now } })
  const browser = f.browser()
  await f.signIn(browser)
  const page = await f.ask(browser, { prompt: 'select_account' })
  clock.advance(lifetime - 1)
  const arrival = hold()
  // Chooses the account, and resumes.
  const first = f.submit(browser, page, {})
  await arrival
  const second = await f.submit(browser, page, {})
  clock.advance(delay)
  release()
  const codes = [await first, second].map(({ url }) => url.searchParams.get('code'))
  expect(codes.filter((code) => code !== null)).toHaveLength(1)
})
