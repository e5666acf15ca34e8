// Failures between processes: one that was suspended, one that died in the middle, a store that is slow, hangs, or
// loses a response.
import type { AtomicDriver } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { accepts, inState, kidOf, kidsOf, published, sharedRing, tokenOf } from './shared-ring.ts'

const isKeys = (key: string): boolean => key.startsWith('keys:')

describe('a process that was suspended while others rotated', () => {
  test('cannot create another ring: its insert fails because the item exists, superseded, and it uses the new ring', async () => {
    const ring = sharedRing()
    let frozen: ReadonlyMap<string, string> | undefined
    let refused = 0
    const sleeper = await ring.start(
      {},
      {
        storage: {
          ...ring.driver,
          getItem: (key) => (frozen === undefined ? ring.driver.getItem(key) : (frozen.get(key) ?? null)),
          insertItem(key, value, options) {
            // It wakes: what it has read is outdated.
            frozen = undefined
            const created = ring.driver.insertItem(key, value, options)
            if (created === false && isKeys(key)) refused += 1
            return created
          },
        },
      },
    )
    const awake = await ring.start()
    frozen = new Map(ring.items)
    for (const _ of [1, 2, 3]) await awake.provider.keys.rotate({ force: true })
    const kids = kidsOf(await awake.provider.keys.list())
    expect(kidsOf(await sleeper.provider.keys.rotate({ force: true }))).toEqual(kids)
    expect(refused).toBe(1)
    expect(sleeper.events.map(({ type }) => type)).not.toContain('keys_rotated')
    expect(await accepts(awake, await tokenOf(sleeper))).toBe(true)
  })

  test('reads the ring before it signs, when its last read is a minute old', async () => {
    const ring = sharedRing()
    const [sleeper, awake] = [await ring.start(), await ring.start()]
    ring.clock.advance(61)
    const keys = await awake.provider.keys.rotate({ force: true })
    expect(kidOf(await tokenOf(sleeper))).toBe(inState(keys, 'current')[0])
  })

  test('reads the ring before it signs, when its last read began a minute ago and was slow', async () => {
    const ring = sharedRing()
    let frozen: ReadonlyMap<string, string> | undefined
    let resume = (): void => {}
    const slow = new Promise<void>((resolve) => {
      resume = resolve
    })
    const storage: AtomicDriver = {
      ...ring.driver,
      async getItem(key) {
        if (frozen === undefined || !isKeys(key)) return ring.driver.getItem(key)
        await slow
        return frozen.get(key) ?? null
      },
    }
    const [sleeper, awake] = [await ring.start({}, { storage }), await ring.start()]
    ring.clock.advance(6)
    frozen = new Map(ring.items)
    // Begins a read that does not see the rotation.
    await tokenOf(sleeper)
    const keys = await awake.provider.keys.rotate({ force: true })
    ring.clock.advance(50)
    resume()
    await new Promise((resolve) => setImmediate(resolve))
    frozen = undefined
    ring.clock.advance(11)
    expect(kidOf(await tokenOf(sleeper))).toBe(inState(keys, 'current')[0])
  })

  // Otherwise its first reader after the rotation would keep the old ones for minutes.
  test('publishes the current keys, when its last read is refreshInterval old', async () => {
    const ring = sharedRing()
    const [sleeper, awake] = [await ring.start(), await ring.start()]
    ring.clock.advance(6)
    const keys = await awake.provider.keys.rotate({ force: true })
    expect(kidsOf(await published(sleeper))).toEqual(kidsOf(keys))
  })
})

describe('a process that died in the middle of a rotation', () => {
  test('after the insert: the next process removes the old private keys and continues', async () => {
    const ring = sharedRing()
    let dies = false
    const f = await ring.start(
      {},
      {
        storage: {
          ...ring.driver,
          setItem(key, value, options) {
            if (dies && isKeys(key)) throw new Error('the process has died')
            return ring.driver.setItem(key, value, options)
          },
        },
      },
    )
    const token = await tokenOf(f)
    dies = true
    await expect(f.provider.keys.rotate({ force: true })).rejects.toThrow('temporarily unavailable')
    const rings = () => [...ring.items].filter(([key, value]) => isKeys(key) && value.includes('"ring"'))
    expect(rings()).toHaveLength(2)
    const next = await ring.start()
    expect(rings()).toHaveLength(1)
    expect(await accepts(next, token)).toBe(true)
    expect(kidsOf(await published(next))).toEqual(kidsOf(await published(f)))
  })
})

describe('a store', () => {
  test('that is slow: four processes start concurrently with one ring', async () => {
    const ring = sharedRing(withLatency)
    const processes = await Promise.all(Array.from({ length: 4 }, () => ring.start({ algorithms: ['ES256', 'EdDSA'] })))
    const sets = await Promise.all(processes.map(published))
    expect(new Set(sets.map((keys) => kidsOf(keys).join())).size).toBe(1)
    expect(sets[0]).toHaveLength(4)
  })

  test('that loses the result of the insert: the process recognizes its own insert', async () => {
    const ring = sharedRing((driver) => ({
      ...driver,
      insertItem(key, value, options) {
        const created = driver.insertItem(key, value, options)
        // The client library resent the insert, and the result was that the item exists.
        return isKeys(key) ? false : created
      },
    }))
    const f = await ring.start()
    const [, second] = kidsOf(await published(f))
    expect(inState(await f.provider.keys.rotate({ force: true }), 'current')).toEqual([second])
    expect(f.events.filter(({ type }) => type === 'keys_rotated')).toHaveLength(1)
  })

  test('that fails does not stop signing with the known keys, however long', async () => {
    let fails = false
    const failing = (driver: AtomicDriver): AtomicDriver => ({
      ...driver,
      getItem(key) {
        if (fails && isKeys(key)) throw new Error('connection lost')
        return driver.getItem(key)
      },
    })
    const ring = sharedRing(failing)
    const f = await ring.start()
    fails = true
    for (const seconds of [6, 61, 600, 86_400]) {
      ring.clock.advance(seconds)
      expect(await accepts(f, await tokenOf(f))).toBe(true)
      expect(await published(f)).toHaveLength(2)
    }
    expect(f.events.filter((event) => 'reason' in event && event.reason === 'key_ring_unreadable')).toHaveLength(4)
    await expect(f.provider.keys.rotate({ force: true })).rejects.toThrow('temporarily unavailable')
    fails = false
    ring.clock.advance(6)
    expect(inState(await f.provider.keys.rotate({ force: true }), 'retiring')).toHaveLength(1)
  })

  test('that hangs delays a request for its time limit, and only the first one', async () => {
    let hangs = false
    const ring = sharedRing((driver) => ({
      ...driver,
      getItem: (key) => (hangs && isKeys(key) ? new Promise(() => {}) : driver.getItem(key)),
    }))
    const f = await ring.start({}, { storageTimeLimit: 0.05 })
    hangs = true
    ring.clock.advance(61)
    expect(await accepts(f, await tokenOf(f))).toBe(true)
  })

  test('that is known to fail, and then hangs, delays no request', async () => {
    let fault: (() => never | Promise<never>) | undefined
    const ring = sharedRing((driver) => ({
      ...driver,
      getItem: (key) => (fault !== undefined && isKeys(key) ? fault() : driver.getItem(key)),
    }))
    const f = await ring.start({}, { storageTimeLimit: 60 })
    const failedReads = () => f.events.filter((event) => 'reason' in event && event.reason === 'key_ring_unreadable')
    fault = () => {
      throw new Error('connection lost')
    }
    ring.clock.advance(61)
    await tokenOf(f)
    let release: (error: Error) => void = () => {}
    fault = () =>
      new Promise((_, reject) => {
        release = reject
      })
    ring.clock.advance(61)
    expect(await accepts(f, await tokenOf(f))).toBe(true)
    // A request that waited would have ended after the failure of the read that hangs.
    expect(failedReads()).toHaveLength(1)
    release(new Error('connection lost'))
  })
})
