import type { AtomicDriver } from '@grantry/core'

interface Item {
  readonly value: string
  /** Milliseconds since the epoch; `Infinity` for an item without a `ttl`. */
  readonly expiresAt: number
}

type Shard = Map<string, Item>

/** A map of a million items stops the process for 94 ms when it grows, one of 256 maps for 2 ms (measured). A power of two. */
const shardCount = 256

/** So many items are looked at by one write: what has ended is then at most about a seventh of what lives. */
const sweepSlice = 8

/** The end of a key is what differs: the keys of the core end with a hash. */
function shardOf(key: string): number {
  let hash = 0
  for (let index = Math.max(0, key.length - 4); index < key.length; index += 1) hash = hash * 31 + key.charCodeAt(index)
  return hash & (shardCount - 1)
}

export interface MemoryDriverOptions {
  /** How many items it may hold; a write beyond them fails, and nothing is ever pushed out. Without it, as many as memory has room for. */
  readonly maxItems?: number
}

/**
 * An unstorage driver that can insert atomically. Written out instead of imported: a program that type-checks it needs nothing of
 * unstorage; a test holds it to unstorage's own type.
 */
export interface MemoryDriver extends AtomicDriver {
  readonly name: 'memory'
  getItem(key: string): string | null
  setItem(key: string, value: string, options?: { ttl?: number }): void
  insertItem(key: string, value: string, options: { ttl: number }): boolean
  incrementItem(key: string, options: { ttl: number }): number
  hasItem(key: string): boolean
  removeItem(key: string): void
  /** Every live key, whatever the base: for unstorage, and never on a request path. */
  getKeys(base?: string, options?: object): string[]
  clear(): void
  dispose(): void
  /** A copy of what is stored, expired items that are not dropped yet included. */
  getInstance(): Map<string, unknown>
}

/**
 * Keeps everything in this process: for one process, tests and demonstrations. Insert is atomic because it looks and writes in one tick.
 * Expired items are dropped in small steps by later writes; there is no timer that keeps a process alive.
 *
 * @throws Error from a write when `maxItems` are stored; RangeError from an insert of what would end at once.
 * @example
 * const storage = memoryDriver()
 */
export function memoryDriver({ maxItems = Number.POSITIVE_INFINITY }: MemoryDriverOptions = {}): MemoryDriver {
  const shards: readonly Shard[] = Array.from({ length: shardCount }, () => new Map())
  const shardFor = (key: string): Shard => shards[shardOf(key)] as Shard
  let size = 0
  let swept = 0
  // An iterator of a map goes on while the map changes; what is added meanwhile it visits too.
  let walk = (shards[0] as Shard).entries()

  const isLive = (item: Item | undefined, now = Date.now()): item is Item => item !== undefined && item.expiresAt > now

  function remove(shard: Shard, key: string): void {
    if (shard.delete(key)) size -= 1
  }

  function walkNextShard(): void {
    for (let step = 0; step < shardCount; step += 1) {
      swept = (swept + 1) & (shardCount - 1)
      if ((shards[swept] as Shard).size > 0) break
    }
    walk = (shards[swept] as Shard).entries()
  }

  /** Goes round through all items, a few at each write, however many there are. */
  function sweep(now: number): void {
    for (let step = 0; step < sweepSlice; step += 1) {
      const next = walk.next()
      if (next.done) walkNextShard()
      else if (!isLive(next.value[1], now)) remove(shards[swept] as Shard, next.value[0])
    }
  }

  function write(key: string, value: string, ttl: number | undefined): void {
    const now = Date.now()
    sweep(now)
    const shard = shardFor(key)
    if (ttl !== undefined && !(ttl > 0)) {
      remove(shard, key)
      return
    }
    if (!shard.has(key)) {
      // Pushing out another item instead could forget that a code was redeemed.
      if (size >= maxItems) throw new Error(`The memory driver holds ${maxItems} items, as many as it may`)
      size += 1
    }
    shard.set(key, { value, expiresAt: ttl === undefined ? Number.POSITIVE_INFINITY : now + ttl * 1000 })
  }

  const get = (key: string): string | null => {
    const item = shardFor(key).get(key)
    return isLive(item) ? item.value : null
  }

  function clear(): void {
    for (const shard of shards) shard.clear()
    size = 0
  }

  return {
    name: 'memory',
    getInstance: () => new Map(shards.flatMap((shard) => [...shard])),
    hasItem: (key) => isLive(shardFor(key).get(key)),
    getItem: get,
    setItem: (key, value, options) => write(key, value, options?.ttl),
    insertItem(key, value, { ttl }) {
      if (!(ttl > 0)) throw new RangeError(`The ttl of an inserted item is ${ttl} s; give more than 0`)
      if (isLive(shardFor(key).get(key))) return false
      write(key, value, ttl)
      return true
    },
    incrementItem(key, { ttl }) {
      if (!(ttl > 0)) throw new RangeError(`The ttl of a counter is ${ttl} s; give more than 0`)
      const shard = shardFor(key)
      const item = shard.get(key)
      const count = isLive(item) ? Number(item.value) + 1 : 1
      if (!Number.isSafeInteger(count)) throw new TypeError('The item of this key is no counter')
      // The end of a counter is that of its creation.
      if (count > 1 && item !== undefined) shard.set(key, { value: String(count), expiresAt: item.expiresAt })
      else write(key, '1', ttl)
      return count
    },
    removeItem: (key) => remove(shardFor(key), key),
    getKeys: () => shards.flatMap((shard) => [...shard].flatMap(([key, item]) => (isLive(item) ? [key] : []))),
    clear,
    // Another provider of this process may go on with what is revoked and spent.
    dispose() {},
  }
}
