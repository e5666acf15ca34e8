import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { setUp } from './plugin-kit.ts'

describe('records.increment()', () => {
  test('counts, and no two calls get the same number', async () => {
    const { withKit } = await setUp('kit', { storage: withLatency(memoryDriver()) })
    const count = (key: string) => withKit((kit) => kit.records.increment(key, kit.now() + 60))
    expect(await count('a')).toBe(1)
    const counts = await withKit((kit) =>
      Promise.all(Array.from({ length: 20 }, () => kit.records.increment('a', kit.now() + 60))),
    )
    expect(new Set(counts).size).toBe(20)
    expect(Math.max(...counts)).toBe(21)
    expect(await count('b')).toBe(1)
  })

  test('is apart from the records, and from the counters of other plugins', async () => {
    const storage = memoryDriver()
    const f = await setUp('one', { storage })
    await f.withKit((kit) => kit.records.increment('a', kit.now() + 60))
    expect(await f.withKit((kit) => kit.records.get('a', v.unknown()))).toBeUndefined()
    const otherPlugin = await setUp('other', { storage })
    expect(await otherPlugin.withKit((kit) => kit.records.increment('a', kit.now() + 60))).toBe(1)
  })

  test('needs a time in the future', async () => {
    const { withKit } = await setUp()
    await expect(withKit((kit) => kit.records.increment('a', 60))).rejects.toThrow(/in the future/u)
  })
})
