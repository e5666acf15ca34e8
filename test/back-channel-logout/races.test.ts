import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { setUpNotified } from './parties.ts'

test('14.4 a client that gets a code while the session ends is notified, or gets none', async () => {
  const clock = createTestClock()
  const storage = withLatency(mapDriver(new Map(), clock.now))
  const f = await setUpNotified({}, { storage, runtime: { now: clock.now } })
  const names = Array.from({ length: 40 }, (_, index) => `user-${index}`)
  const outcomes = await Promise.all(
    names.map(async (name, index) => {
      const { browser, hint } = await f.signedIn(name)
      const visiting = f.visit(browser, 'shop')
      // Some logouts begin later, so that both meet at different steps.
      for (let step = 0; step < index % 8; step += 1) await storage.getItem(`${step}`)
      await f.logout(browser, { id_token_hint: hint })
      const { code } = await visiting
      return { name, hasCode: code !== undefined }
    }),
  )
  const notified = new Set(f.claims().flatMap(({ sub, aud }) => (aud === 'shop' ? [sub] : [])))
  expect(outcomes.filter(({ name, hasCode }) => hasCode && !notified.has(name))).toEqual([])
  expect(new Set(f.claims().flatMap(({ sub, aud }) => (aud === 'web' ? [sub] : [])))).toEqual(new Set(names))
})
