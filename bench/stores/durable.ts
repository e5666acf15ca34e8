import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AtomicDriver } from '@grantry/core'
import { newKey, newRecord } from './records.ts'

export interface DurableFigures {
  /** Redemptions per second that are durable when they resolve. */
  readonly perSecond: number
  /** Flushes per second of a file with one block, on the same disk, before and after. */
  readonly flushes: readonly [before: number, after: number]
}

/** Appends blocks to a file, and flushes each. */
function flushesPerSecond(directory: string, seconds: number): number {
  const path = join(directory, 'flushes')
  const descriptor = openSync(path, 'w')
  const block = Buffer.alloc(4096)
  const start = performance.now()
  let count = 0
  for (; performance.now() - start < seconds * 1000; count += 1) {
    writeSync(descriptor, block, 0, block.length, count * block.length)
    fsyncSync(descriptor)
  }
  const took = performance.now() - start
  closeSync(descriptor)
  rmSync(path)
  return (count / took) * 1000
}

/** Redeems refresh tokens: each commit creates a marker and writes an access and a refresh token. */
export async function measureDurable(
  driver: AtomicDriver,
  directory: string,
  concurrency: number,
  seconds: number,
): Promise<DurableFigures> {
  const before = flushesPerSecond(directory, seconds / 4)
  const item = () => ({ key: newKey(), value: newRecord(), ttl: 3600 })
  const start = performance.now()
  let count = 0
  async function client(): Promise<void> {
    for (; performance.now() - start < seconds * 1000; count += 1) {
      await driver.commit?.({ create: [item()], put: [item(), item()], remove: [] })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  const perSecond = (count / (performance.now() - start)) * 1000
  return { perSecond, flushes: [before, flushesPerSecond(directory, seconds / 4)] }
}
