// A process that writes without a pause takes the lock again before another one, which tries every few milliseconds,
// notices that it was free. The writes of the other one would fail after their time limit.
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Batch, createBatch } from '../../packages/storage-drivers/src/sqlite/write-batch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Returns a batch whose transactions take so many milliseconds, and their number so far. */
function batchOf(duration: number): { readonly batch: Batch; readonly transactions: () => Promise<number> } {
  let commits = 0
  const run = (sql: string): void => {
    if (sql !== 'COMMIT') return
    commits += 1
    vi.advanceTimersByTime(duration)
  }
  const batch = createBatch({
    database: () => ({ run, all: () => [] }),
    handle: (error) => error,
    retryPause: () => 1,
    timeout: 60_000,
  })
  const transactions = async (): Promise<number> => {
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    return commits
  }
  return { batch, transactions }
}

async function oneByOne({ add }: Batch): Promise<void> {
  for (let write = 0; write < 5; write += 1) await add(() => {})
}

const concurrently = ({ add }: Batch) => Promise.all(Array.from({ length: 5 * 256 }, () => add(() => {})))

test.each([
  ['one by one', oneByOne],
  ['concurrently', concurrently],
])('a process that writes %s leaves the lock to others, after 100 ms', async (_how, write) => {
  const { batch, transactions } = batchOf(60)
  const written = write(batch)
  expect(await transactions()).toBe(2)
  vi.advanceTimersByTime(5)
  expect(await transactions()).toBe(2)
  vi.advanceTimersByTime(1)
  expect(await transactions()).toBe(4)
  vi.advanceTimersByTime(6)
  expect(await transactions()).toBe(5)
  await written
})

test('a process does not pause for others after short transactions, or after a gap', async () => {
  const short = batchOf(10)
  await concurrently(short.batch)
  expect(await short.transactions()).toBe(5)
  const long = batchOf(60)
  await long.batch.add(() => {})
  vi.advanceTimersByTime(6)
  for (let write = 0; write < 2; write += 1) await long.batch.add(() => {})
  expect(await long.transactions()).toBe(3)
})
