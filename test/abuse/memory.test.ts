// Attack: failing from as many addresses as possible, to fill up the memory of the process.
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { createWindowLimit } from '../../packages/core/src/abuse/window-limit.ts'
import { createBoundedMap } from '../../packages/core/src/bounded-map.ts'
import { createRecorder } from '../../packages/core/src/events/recorder.ts'
import { openStore } from '../../packages/core/src/records/store.ts'
import { webRuntime } from '../../packages/core/src/runtime.ts'

test('a full map drops the oldest entries, and keeps those that were written again', () => {
  const map = createBoundedMap<number>(3)
  for (const [index, key] of ['a', 'b', 'c', 'a', 'd'].entries()) map.set(key, index)
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([3, undefined, 2, 4])
  expect(map.size).toBe(3)
})

test('counts 12,000 addresses in the store, and remembers 10,000 of them', async () => {
  let ends = 0
  const driver = {
    ...mapDriver(),
    incrementItem(_: string, { ttl }: { readonly ttl: number }) {
      if (ttl > 0 && ttl <= 120) ends += 1
      return 10
    },
  }
  const runtime = { ...webRuntime, now: () => 1_800_000_000 }
  const store = openStore(driver, { runtime, timeLimit: 5, onRejected() {} })
  const recorder = createRecorder(undefined, runtime)
  const limit = createWindowLimit(
    { failures: 10, window: 60 },
    { limit: 'test', issuer: 'https://id.example.com', store, runtime, recorder },
  )
  const trace = recorder.start()
  for (let index = 0; index < 12_000; index += 1) await limit.count(`address ${index}`, trace)
  // Every record has its own expiry.
  expect(ends).toBe(12_000)
  const blocked = (index: number): boolean => {
    try {
      limit.assertBelow(`address ${index}`)
      return false
    } catch {
      return true
    }
  }
  expect(blocked(1_999)).toBe(false)
  expect(blocked(2_000)).toBe(true)
  expect(blocked(11_999)).toBe(true)
})
