// A process that writes without a pause takes the lock again before another one, which tries every few milliseconds,
// notices that it was free. The writes of the other one would fail after their time limit.
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatch } from '../../packages/storage-drivers/src/sqlite/write-batch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const turns = 20

/** Performs writes of three transactions. Returns how many there were after one pause, and at the end. */
async function transactions(locked: number): Promise<readonly [afterPause: number, all: number]> {
  let [begins, commits] = [0, 0]
  const run = (sql: string): void => {
    if (sql === 'BEGIN IMMEDIATE') begins += 1
    if (begins === locked) throw Object.assign(new Error('database is locked'), { errcode: 5 })
    if (sql === 'COMMIT') commits += 1
  }
  const batch = createBatch({
    database: () => ({ run, all: () => [] }),
    handle: (error) => error,
    retryPause: () => 1,
    timeout: 60_000,
  })
  const writes = Array.from({ length: 3 * 256 }, () => batch.add(() => {}))
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate()
  }
  await settle()
  vi.advanceTimersByTime(1)
  await settle()
  const afterPause = commits
  while (commits < 3) {
    vi.advanceTimersByTime(1)
    await settle()
  }
  await Promise.all(writes)
  return [afterPause, commits]
}

test('pauses between transactions after another process had the lock', async () => {
  expect(await transactions(1)).toEqual([1, 3])
})

test('does not pause without other processes', async () => {
  expect(await transactions(0)).toEqual([3, 3])
})
