import type { DriverChanges, DriverItem } from '@grantry/core'
import { inBatches, type ListableDriver, type ListedItem } from './copy/listable-driver.ts'
import { firstOf } from './first-of.ts'

interface Item {
  readonly value: string
  /** Milliseconds since the epoch; `Infinity` for an item without a `ttl`. */
  readonly expiresAt: number
}

type Shard = Map<string, Item>

/**
 * Measured: growing one map of a million items blocks the process for 94 ms, one of 256 smaller maps for 2 ms. A power
 * of two.
 */
const shardCount = 256

/** Items that each write checks for expiry. Expired items then number at most about a seventh of the live ones. */
const sweepSlice = 8

/** Hashes the last characters: the keys of the core end with a hash. */
function shardOf(key: string): number {
  let hash = 0
  for (let index = Math.max(0, key.length - 4); index < key.length; index += 1) hash = hash * 31 + key.charCodeAt(index)
  return hash & (shardCount - 1)
}

export interface MemoryDriverOptions {
  /** Maximum number of items; a write beyond it throws. Items are never evicted. Default: no limit. */
  readonly maxItems?: number | undefined
}

/**
 * An unstorage driver with an atomic insert. Declared here instead of derived from unstorage's type, so that programs
 * type-check without unstorage; a test checks it against that type. Without `getItems`: there is no trip to save.
 */
export interface MemoryDriver extends Omit<ListableDriver, 'getItems'> {
  readonly name: 'memory'
  getItem(key: string): string | null
  setItem(key: string, value: string, options?: { ttl?: number | undefined }): void
  insertItem(key: string, value: string, options: { ttl: number }): boolean
  incrementItem(key: string, options: { ttl: number }): number
  commit(changes: DriverChanges): true | readonly string[]
  replaceItem(key: string, change: { from: string; to: string; ttl: number }): boolean
  listKeys(base: string, page: { after: string; limit: number }): string[]
  hasItem(key: string): boolean
  removeItem(key: string): void
  /** Returns every live key and ignores `base`. For unstorage; the provider never calls it. */
  getKeys(base?: string, options?: object): string[]
  clear(): void
  dispose(): void
  /** Returns a copy of the stored items, including expired ones that are not removed yet. */
  getInstance(): Map<string, unknown>
}

/** Lists a copy of the items, so that the map can change meanwhile. */
async function* listed(shards: readonly Shard[]): AsyncGenerator<ListedItem> {
  for (const shard of shards) {
    for (const [key, item] of [...shard]) if (isLive(item)) yield { key, value: item.value, endsAt: item.expiresAt }
  }
}

const isLive = (item: Item | undefined, now = Date.now()): item is Item => item !== undefined && item.expiresAt > now

const liveKeys = (shards: readonly Shard[]): string[] =>
  shards.flatMap((shard) => [...shard].flatMap(([key, item]) => (isLive(item) ? [key] : [])))

/** Items that expire. Each write removes a few expired ones. */
interface ExpiringItems {
  readonly shards: readonly Shard[]
  /** Returns an item that has not expired. */
  find(key: string): Item | undefined
  /** @throws Error when the maximum number of items is stored. */
  write(key: string, value: string, ttl: number | undefined): void
  /** Replaces an item that `find()` has returned. */
  replace(key: string, item: Item): void
  remove(key: string): void
  /** Checks all items of a commit before the first one is written. */
  assertWritable(items: readonly DriverItem[]): void
  clear(): void
}

function createItems(maxItems: number): ExpiringItems {
  const shards: readonly Shard[] = Array.from({ length: shardCount }, () => new Map())
  const shardFor = (key: string): Shard => shards[shardOf(key)] as Shard
  let size = 0
  let swept = 0
  // A map iterator stays valid while the map changes, and also visits items that are added meanwhile.
  let walk = (shards[0] as Shard).entries()

  const full = (): Error => new Error(`The memory driver is full: it holds ${maxItems} items; raise maxItems`)

  function removeFrom(shard: Shard, key: string): void {
    if (shard.delete(key)) size -= 1
  }

  function walkNextShard(): void {
    for (let step = 0; step < shardCount; step += 1) {
      swept = (swept + 1) & (shardCount - 1)
      if ((shards[swept] as Shard).size > 0) break
    }
    walk = (shards[swept] as Shard).entries()
  }

  /** Checks the next few items. Successive writes cycle through all of them. */
  function sweep(now: number): void {
    for (let step = 0; step < sweepSlice; step += 1) {
      const next = walk.next()
      if (next.done) walkNextShard()
      else if (!isLive(next.value[1], now)) removeFrom(shards[swept] as Shard, next.value[0])
    }
  }

  function write(key: string, value: string, ttl: number | undefined): void {
    const now = Date.now()
    sweep(now)
    const shard = shardFor(key)
    if (ttl !== undefined && !(ttl > 0)) {
      removeFrom(shard, key)
      return
    }
    if (!shard.has(key)) {
      // Evicting another item could forget that a code was redeemed.
      if (size >= maxItems) throw full()
      size += 1
    }
    shard.set(key, { value, expiresAt: ttl === undefined ? Number.POSITIVE_INFINITY : now + ttl * 1000 })
  }

  function assertWritable(items: readonly DriverItem[]): void {
    for (const { ttl } of items) {
      if (!(ttl > 0)) throw new RangeError(`The ttl of a committed item is ${ttl} s; give more than 0`)
    }
    if (maxItems === Number.POSITIVE_INFINITY) return
    const now = Date.now()
    // As many slices as writes: otherwise expired items would fill a driver that only commits.
    for (let slice = 0; slice < items.length; slice += 1) sweep(now)
    const added = items.filter(({ key }) => !shardFor(key).has(key)).length
    if (size + added > maxItems) throw full()
  }

  return {
    shards,
    find(key) {
      const item = shardFor(key).get(key)
      return isLive(item) ? item : undefined
    },
    write,
    replace: (key, item) => void shardFor(key).set(key, item),
    remove: (key) => removeFrom(shardFor(key), key),
    assertWritable,
    clear() {
      for (const shard of shards) shard.clear()
      size = 0
    },
  }
}

/**
 * Stores items in the memory of this process: for single-process servers, tests and demos. The insert is atomic because
 * it checks and writes synchronously. Later writes remove expired items in small steps; no timer keeps the process
 * alive.
 *
 * @throws Error from a write when `maxItems` items are stored; RangeError from an insert or increment whose `ttl` is 0
 * or less.
 * @example
 * const storage = memoryDriver()
 */
export function memoryDriver({ maxItems = Number.POSITIVE_INFINITY }: MemoryDriverOptions = {}): MemoryDriver {
  const items = createItems(maxItems)
  return {
    name: 'memory',
    getInstance: () => new Map(items.shards.flatMap((shard) => [...shard])),
    hasItem: (key) => items.find(key) !== undefined,
    getItem: (key) => items.find(key)?.value ?? null,
    setItem: (key, value, options) => items.write(key, value, options?.ttl),
    insertItem(key, value, { ttl }) {
      if (!(ttl > 0)) throw new RangeError(`The ttl of an inserted item is ${ttl} s; give more than 0`)
      if (items.find(key) !== undefined) return false
      items.write(key, value, ttl)
      return true
    },
    incrementItem(key, { ttl }) {
      if (!(ttl > 0)) throw new RangeError(`The ttl of a counter is ${ttl} s; give more than 0`)
      const item = items.find(key)
      const count = item === undefined ? 1 : Number(item.value) + 1
      if (!Number.isSafeInteger(count)) throw new TypeError('The stored item of this key is not a counter')
      // A counter keeps the expiry of its creation.
      if (item === undefined) items.write(key, '1', ttl)
      else items.replace(key, { value: String(count), expiresAt: item.expiresAt })
      return count
    },
    commit({ create, put, remove: removed }) {
      const existing = create.filter(({ key }) => items.find(key) !== undefined)
      if (existing.length > 0) return existing.map(({ key }) => key)
      const written = [...create, ...put]
      items.assertWritable(written)
      for (const { key, value, ttl } of written) items.write(key, value, ttl)
      for (const key of removed) items.remove(key)
      return true
    },
    replaceItem(key, { from, to, ttl }) {
      if (!(ttl > 0)) throw new RangeError(`The ttl of a replaced item is ${ttl} s; give more than 0`)
      if (items.find(key)?.value !== from) return false
      items.write(key, to, ttl)
      return true
    },
    listKeys: (base, { after, limit }) => firstOf(liveKeys(items.shards), base, after, limit),
    removeItem: items.remove,
    getKeys: () => liveKeys(items.shards),
    listItems: () => inBatches(listed(items.shards)),
    countItems: async () => items.shards.reduce((sum, shard) => sum + shard.size, 0),
    clear: items.clear,
    // Keeps the items: another provider in this process may still use the driver.
    dispose() {},
  }
}
