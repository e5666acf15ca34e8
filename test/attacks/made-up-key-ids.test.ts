// The attacker sends tokens with made-up ids of keys, so that the provider, or an API, fetches the keys of another host for
// each of them; or so that it fetches none when the owner of the keys has just published another one.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keys } from '../support/published-host.ts'
import { keySets } from '../support/published-values.ts'

// The library of sign-ins elsewhere reads the clock of the machine: no second passes by itself.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe.each(keySets)('made-up ids of %s', (_name, open) => {
  test('cause one fetch in 30 seconds, and none delays the keys that are known', async () => {
    const place = await open()
    expect(await place.accepts(keys.first)).toBe(true)
    const seconds = 60
    for (let second = 0; second < seconds; second += 4) {
      for (const round of [1, 2]) expect(await place.accepts(keys.third, `made-up-${second}-${round}`)).toBe(false)
      await place.pass(4)
    }
    expect(place.fetches()).toBeLessThanOrEqual(1 + Math.ceil(seconds / 30))
    expect(await place.accepts(keys.first)).toBe(true)
  })

  test('that begin with an empty memory cause one fetch', async () => {
    const place = await open()
    for (const round of [1, 2, 3]) expect(await place.accepts(keys.third, `made-up-${round}`)).toBe(false)
    expect(place.fetches()).toBe(1)
  })

  // In the seconds after a fetch that the age of the keys has caused, or the first request.
  test('do not hide a key that was published a second after the last fetch', async () => {
    const place = await open()
    expect(await place.accepts(keys.first)).toBe(true)
    await place.pass(1)
    place.publish(keys.second.jwk)
    expect(await place.accepts(keys.second)).toBe(true)
    expect(place.fetches()).toBe(2)
    // The next one is found after the cooldown.
    await place.pass(29)
    place.publish(keys.third.jwk)
    expect(await place.accepts(keys.third)).toBe(false)
    await place.pass(1)
    expect(await place.accepts(keys.third)).toBe(true)
    expect(place.fetches()).toBe(3)
  })
})
