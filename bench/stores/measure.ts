import type { AtomicDriver } from '@grantry/core'
import { newKey, newRecord } from './records.ts'

/** Microseconds per operation. */
export interface Figures {
  readonly live: number
  readonly get: number
  readonly absent: number
  readonly set: number
  readonly insert: number
}

const lifetime = { ttl: 86_400 }

/** Runs `count` operations with `concurrency` concurrent ones, and returns the average microseconds per operation. */
async function timed(count: number, concurrency: number, operate: (index: number) => unknown): Promise<number> {
  const before = performance.now()
  for (let index = 0; index < count; index += concurrency) {
    const pending: unknown[] = []
    for (let each = index; each < Math.min(count, index + concurrency); each += 1) pending.push(operate(each))
    await Promise.all(pending)
  }
  return ((performance.now() - before) * 1000) / count
}

const median = (figures: readonly number[]): number =>
  [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN

/** Returns the median of five runs, so that a single GC pause does not distort the result. */
async function medianOf(count: number, concurrency: number, operate: (index: number) => unknown): Promise<number> {
  const runs: number[] = []
  for (let run = 0; run < 5; run += 1) runs.push(await timed(count, concurrency, operate))
  return median(runs)
}

/** Fills the driver with items number `from` to `to`, and adds a sample of the keys to `known`. */
export async function fill(
  driver: AtomicDriver,
  known: string[],
  from: number,
  to: number,
  concurrency: number,
): Promise<void> {
  const sample = Math.max(1, Math.floor((to - from) / 5000))
  await timed(to - from, concurrency, (index) => {
    const key = newKey()
    if (index % sample === 0) known.push(key)
    return driver.setItem(key, newRecord(), lifetime)
  })
}

export async function measure(
  driver: AtomicDriver,
  known: readonly string[],
  live: number,
  concurrency: number,
  count: number,
): Promise<Figures> {
  const keys = Array.from({ length: count }, () => known[Math.floor(Math.random() * known.length)] ?? '')
  const absentKeys = Array.from({ length: count }, newKey)
  const written = Array.from({ length: count }, newKey)
  const inserted = Array.from({ length: count * 5 }, newKey)
  const record = newRecord()
  let next = 0
  const figures = {
    live,
    get: await medianOf(count, concurrency, (index) => driver.getItem(keys[index] ?? '')),
    absent: await medianOf(count, concurrency, (index) => driver.getItem(absentKeys[index] ?? '')),
    set: await medianOf(count, concurrency, (index) => driver.setItem(written[index] ?? '', record, lifetime)),
    insert: await medianOf(count, concurrency, () => driver.insertItem(inserted[next++] ?? '', record, lifetime)),
  }
  const added = [...written, ...inserted]
  await timed(added.length, concurrency, (index) => driver.removeItem(added[index] ?? '', {}))
  return figures
}
