import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import type { AtomicDriver } from '@grantry/core'
import { newKey, newRecord } from './records.ts'

/** Durations in milliseconds. */
export interface SweepFigures {
  readonly ended: number
  readonly writes: number
  /** The longest write, excluding GC pauses during it. */
  readonly longestWrite: number
  readonly longestDelay: number
  readonly longestCollection: number
}

interface Span {
  readonly startTime: number
  readonly duration: number
}

function overlap(first: Span, second: Span): number {
  const start = Math.max(first.startTime, second.startTime)
  return Math.max(0, Math.min(first.startTime + first.duration, second.startTime + second.duration) - start)
}

/**
 * Lets many items expire together and writes until they are removed. Measures how long a single write blocks the
 * process and how late the event loop runs. GC pauses are subtracted, since other code may have caused them.
 */
export async function measureSweep(
  driver: AtomicDriver,
  ended: number,
  writesPerItem: number,
  wait: number,
): Promise<SweepFigures> {
  const record = newRecord()
  for (let index = 0; index < ended; index += 1) {
    const stored = driver.setItem(newKey(), record, { ttl: wait })
    if (stored instanceof Promise) await stored
  }
  await new Promise((resolve) => setTimeout(resolve, wait * 1000))
  globalThis.gc?.()
  const collections: Span[] = []
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const slow: Span[] = []
  const writes = Math.ceil(ended * writesPerItem)
  for (let index = 0; index < writes; index += 1) {
    const startTime = performance.now()
    const stored = driver.setItem('bench:writer', record, { ttl: 3600 })
    const duration = performance.now() - startTime
    if (duration > 0.1) slow.push({ startTime, duration })
    if (stored instanceof Promise) await stored
    // Yields as between requests: the sweep of the filesystem driver waits for a turn of the event loop.
    if (stored instanceof Promise || index % 100 === 0) await setImmediate()
  }
  delay.disable()
  await setImmediate()
  observer.disconnect()
  const withoutCollections = slow.map(
    (write) => write.duration - collections.reduce((sum, each) => sum + overlap(write, each), 0),
  )
  return {
    ended,
    writes,
    longestWrite: Math.max(0.1, ...withoutCollections),
    longestDelay: delay.max / 1e6,
    longestCollection: Math.max(0, ...collections.map(({ duration }) => duration)),
  }
}
