import type { AtomicDriver } from '@grantry/core'
import { createExpiryQueue } from './expiry-queue.ts'

interface Item {
  readonly value: string
  /** Milliseconds since the epoch; `Infinity` for an item without a `ttl`. */
  readonly expiresAt: number
}

/** At most so many expired items are dropped by one write, so that no write waits for a large sweep. */
const sweepSlice = 16

/** So many queued ends beyond twice the items are tolerated before the queue is made anew. */
const slack = 1024

/**
 * An unstorage driver that can insert atomically. Written out instead of imported: a program that type-checks it needs nothing of
 * unstorage; a test holds it to unstorage's own type.
 */
export interface MemoryDriver extends AtomicDriver {
  readonly name: 'memory'
  getItem(key: string): string | null
  setItem(key: string, value: string, options?: { ttl?: number }): void
  insertItem(key: string, value: string, options: { ttl: number }): boolean
  hasItem(key: string): boolean
  removeItem(key: string): void
  /** Every live key, whatever the base: for unstorage, and never on a request path. */
  getKeys(base?: string, options?: object): string[]
  clear(): void
  dispose(): void
  /** What is stored, expired items that are not dropped yet included. */
  getInstance(): Map<string, unknown>
}

/**
 * Keeps everything in this process: for one process, tests and demonstrations. Insert is atomic because it looks and writes in one tick.
 * Expired items are dropped in small steps by later writes; there is no timer that keeps a process alive.
 *
 * @example
 * const storage = memoryDriver()
 */
export function memoryDriver(): MemoryDriver {
  const items = new Map<string, Item>()
  const ends = createExpiryQueue()

  const isLive = (item: Item | undefined): item is Item => item !== undefined && item.expiresAt > Date.now()

  function sweep(): void {
    const now = Math.floor(Date.now() / 1000)
    for (let step = 0; step < sweepSlice; step += 1) {
      const key = ends.take(now)
      if (key === undefined) return
      const item = items.get(key)
      // It may have been written again since, with a later end.
      if (item !== undefined && !isLive(item)) items.delete(key)
    }
  }

  /** Drops what the queue still holds of items that were removed or written again; its cost is spread over the writes that caused it. */
  function requeue(): void {
    ends.clear()
    for (const [key, { expiresAt }] of items) {
      if (Number.isFinite(expiresAt)) ends.add(key, Math.floor(expiresAt / 1000))
    }
  }

  function write(key: string, value: string, ttl: number | undefined): void {
    sweep()
    const expiresAt = ttl === undefined ? Number.POSITIVE_INFINITY : Date.now() + ttl * 1000
    const earlier = items.get(key)
    items.set(key, { value, expiresAt })
    const second = Math.floor(expiresAt / 1000)
    // An item that is written again with the same end is queued already.
    if (ttl === undefined || (earlier !== undefined && Math.floor(earlier.expiresAt / 1000) === second)) return
    ends.add(key, second)
    if (ends.size > 2 * items.size + slack) requeue()
  }

  const get = (key: string): string | null => {
    const item = items.get(key)
    return isLive(item) ? item.value : null
  }

  return {
    name: 'memory',
    getInstance: () => items,
    hasItem: (key) => isLive(items.get(key)),
    getItem: get,
    setItem: (key, value, options) => write(key, value, options?.ttl),
    insertItem(key, value, { ttl }) {
      if (isLive(items.get(key))) return false
      write(key, value, ttl)
      return true
    },
    removeItem(key) {
      items.delete(key)
    },
    getKeys: () => [...items].filter(([, item]) => isLive(item)).map(([key]) => key),
    clear() {
      items.clear()
      ends.clear()
    },
    dispose() {
      items.clear()
      ends.clear()
    },
  }
}
