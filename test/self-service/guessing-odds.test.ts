// How many mailed codes a stranger can try who never stops: the odds in decision 162.
import type { EndpointKit } from '@grantry/core'
import { expect, test } from 'vitest'
import { countCode } from '../../plugins/shared/code-limits.ts'

const day = 86_400

/** A storage whose records end. */
function fakeKit() {
  let time = 1_800_000_000
  let ids = 0
  const stored = new Map<string, { readonly value: unknown; readonly until: number }>()
  const read = (key: string): unknown => {
    const found = stored.get(key)
    return found !== undefined && found.until > time ? found.value : undefined
  }
  const records = {
    get: async (key: string) => read(key),
    async put(key: string, value: unknown, until: number) {
      stored.set(key, { value, until })
    },
    async insert(key: string, value: unknown, until: number) {
      if (read(key) !== undefined) return false
      stored.set(key, { value, until })
      return true
    },
    async increment(key: string, until: number) {
      const value = Number(read(key) ?? 0) + 1
      stored.set(key, { value, until })
      return value
    },
  }
  const kit = {
    now: () => time,
    randomId() {
      ids += 1
      return String(ids)
    },
    records,
    refuse: (_: string, __: string, reason: string, { retryAfter }: { readonly retryAfter: number }) =>
      Object.assign(new Error(reason), { retryAfter }),
  } as unknown as EndpointKit
  return {
    kit,
    advance(seconds: number): void {
      time += seconds
    },
    now: () => time,
  }
}

/** Tries codes for a year, as soon as they are allowed. Returns their number, and the longest wait in days. */
async function year(kind: 'mailed code' | 'second factor') {
  const { kit, advance, now } = fakeKit()
  const end = now() + 365 * day
  let tried = 0
  let longest = 0
  while (now() < end) {
    try {
      await countCode(kind, 'alice', {}, '198.51.100.1', kit)
      tried += 1
    } catch (error) {
      const { retryAfter } = error as { readonly retryAfter: number }
      longest = Math.max(longest, retryAfter)
      advance(retryAfter)
    }
  }
  return { tried, longest: longest / day }
}

test('19.4 a stranger who never stops tries at most 600 mailed codes of a million in a year, and no wait is longer than 7 days', async () => {
  const { tried, longest } = await year('mailed code')
  expect(tried).toBeGreaterThan(400)
  expect(tried).toBeLessThan(600)
  expect(longest).toBe(7)
})

test('second factors keep 50 in 90 days', async () => {
  expect((await year('second factor')).tried).toBeLessThanOrEqual(250)
})
