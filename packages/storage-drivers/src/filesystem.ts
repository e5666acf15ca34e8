import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ListableDriver } from './copy/listable-driver.ts'
import { isDiskFull, withExplanation } from './filesystem/disk-errors.ts'
import { createFlush } from './filesystem/flush.ts'
import { incrementItem } from './filesystem/increment-item.ts'
import { insertItem } from './filesystem/insert-item.ts'
import { listItems } from './filesystem/list-items.ts'
import { listDirectories, walkSlots } from './filesystem/list-slots.ts'
import { prepareDirectory } from './filesystem/prepare-directory.ts'
import { replaceItem } from './filesystem/replace-item.ts'
import { setItem } from './filesystem/set-item.ts'
import { listSlot, liveFileOf, readSlot, removeItem, withLiveFile } from './filesystem/slot.ts'
import { keyOf } from './filesystem/slot-name.ts'
import { type StoreDirectory, shardNames, storeDirectory } from './filesystem/store-directory.ts'
import { sweepDraft, sweepSlot } from './filesystem/sweep.ts'
import { createSweeper } from './filesystem/sweeper.ts'
import { firstOf } from './first-of.ts'

export interface FilesystemOptions {
  /**
   * A directory on a local disk that only Grantry uses; created when absent. Several processes on one machine can share
   * it, several machines cannot.
   */
  readonly directory: string
  /**
   * Whether a write resolves only once it would survive a power cut. Default: `true`. With `false`, writes made shortly
   * before the machine (not the process) crashes may be lost or empty.
   */
  readonly fsync?: boolean | undefined
}

/**
 * An unstorage driver with an atomic insert; a test checks it against unstorage's type. `ttl` is in seconds; fractions
 * are allowed. Without `getItems`: there is no trip to save.
 */
export interface FilesystemDriver extends Omit<ListableDriver, 'getItems'> {
  readonly name: 'filesystem'
  open(): Promise<void>
  getItem(key: string): Promise<string | null>
  hasItem(key: string): Promise<boolean>
  setItem(key: string, value: string, options?: { ttl?: number | undefined }): Promise<void>
  insertItem(key: string, value: string, options: { ttl: number }): Promise<boolean>
  incrementItem(key: string, options: { ttl: number }): Promise<number>
  replaceItem(key: string, change: { from: string; to: string; ttl: number }): Promise<boolean>
  listKeys(base: string, page: { after: string; limit: number }): Promise<string[]>
  removeItem(key: string): Promise<void>
  /** Returns every live key that starts with `base`. For unstorage; the provider never calls it. */
  getKeys(base?: string, options?: object): Promise<string[]>
  clear(base?: string): Promise<void>
  /** Returns the time of the last write and the size in bytes. */
  getMeta(key: string): Promise<{ mtime: Date; size: number } | null>
  /** Removes every expired item now instead of with later writes. Resolves to the number of removed items. */
  purge(): Promise<number>
  dispose(): Promise<void>
}

/** Every operation calls it, because unstorage does not call `open()`. After a failure, the next call tries again. */
function createPreparation(store: StoreDirectory): () => Promise<void> {
  let prepared: Promise<void> | undefined
  return () => {
    prepared ??= prepareDirectory(store).catch((error) => {
      prepared = undefined
      throw error
    })
    return prepared
  }
}

/** Milliseconds since the epoch. */
function expiryTime(ttl: number | undefined): number {
  if (Number.isNaN(ttl)) throw new TypeError('The ttl of a stored item is not a number; give seconds')
  return ttl === undefined ? Number.POSITIVE_INFINITY : Math.ceil(Date.now() + ttl * 1000)
}

async function liveKeys(store: StoreDirectory, base: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { name, path } of walkSlots(store)) {
    const key = keyOf(name)
    if (key.startsWith(base) && liveFileOf(listSlot(path)) !== undefined) keys.push(key)
  }
  return keys
}

/** Counts expired items that are not removed yet, too. */
async function countSlots(store: StoreDirectory): Promise<number> {
  let count = 0
  for await (const _ of walkSlots(store)) count += 1
  return count
}

/** Removes all items whose keys start with `base`. */
async function clearAll(store: StoreDirectory, base: string): Promise<void> {
  for await (const { name, path } of walkSlots(store)) {
    if (keyOf(name).startsWith(base)) removeItem(path)
  }
  for (const shard of shardNames) await store.flush.directory(`${store.items}/${shard}`)
}

/** Removes expired items and abandoned drafts; returns the number of removed items. */
async function purge(store: StoreDirectory): Promise<number> {
  let removed = 0
  for await (const { path } of walkSlots(store)) {
    if (sweepSlot(path)) removed += 1
  }
  for (const name of await listDirectories(store.tmp)) sweepDraft(store.tmp, name)
  return removed
}

/**
 * Stores each item in its own directory, for one machine and any number of processes. A process can be killed at any
 * time without leaving a partial item. Later writes remove expired items in small steps.
 *
 * @throws TypeError when the directory is the empty string. `open()`, or the first operation, rejects when the
 * directory is unusable.
 * @see docs/decisions/0013-filesystem-layout.md
 * @example
 * const storage = filesystemDriver({ directory: '/var/lib/grantry' })
 */
export function filesystemDriver({ directory, fsync = true }: FilesystemOptions): FilesystemDriver {
  // An empty path would resolve to the working directory.
  if (directory === '') throw new TypeError('storage: the directory of filesystemDriver is an empty string; set a path')
  const store = storeDirectory(resolve(directory), createFlush(fsync))
  // A counter lost in a power cut restarts at 1, so it is not worth a flush.
  const counters = storeDirectory(resolve(directory), createFlush(false))
  const sweeper = createSweeper(store)
  const prepare = createPreparation(store)

  async function remove(key: string): Promise<void> {
    const { path, shard } = store.slotOf(key)
    removeItem(path)
    // Even if the item is already gone: the process that removed it may not have flushed yet.
    await Promise.all([store.flush.directory(path), store.flush.directory(shard)])
  }

  async function runOperation<T>(operate: () => T | Promise<T>): Promise<T> {
    await prepare()
    try {
      return await operate()
    } catch (error) {
      // Expired items may be filling the disk, and only successful writes would otherwise remove them.
      if (isDiskFull(error)) sweeper.step()
      throw withExplanation(error, store.directory)
    }
  }

  const runWrite = <T>(operate: () => T | Promise<T>): Promise<T> =>
    runOperation(async () => {
      const result = await operate()
      sweeper.step()
      return result
    })

  return {
    name: 'filesystem',
    open: prepare,
    getItem: (key) => runOperation(() => readSlot(store.slotOf(key).path) ?? null),
    hasItem: (key) => runOperation(() => liveFileOf(listSlot(store.slotOf(key).path)) !== undefined),
    setItem: (key, value, options) =>
      runWrite(async () => {
        const expiresAt = expiryTime(options?.ttl)
        if (expiresAt <= Date.now()) await remove(key)
        else await setItem(store, store.slotOf(key), { value, expiresAt })
      }),
    insertItem: (key, value, { ttl }) =>
      runWrite(() => insertItem(store, store.slotOf(key), { value, expiresAt: expiryTime(ttl) })),
    incrementItem: (key, { ttl }) =>
      runWrite(() => {
        if (!(ttl > 0)) throw new RangeError(`The ttl of a counter is ${ttl} s; give more than 0`)
        return incrementItem(counters, store.slotOf(key), expiryTime(ttl))
      }),
    replaceItem: (key, { from, to, ttl }) =>
      runWrite(() => {
        if (!(ttl > 0)) throw new RangeError(`The ttl of a replaced item is ${ttl} s; give more than 0`)
        return replaceItem(store, store.slotOf(key), from, { value: to, expiresAt: expiryTime(ttl) })
      }),
    listKeys: (base, { after, limit }) =>
      runOperation(async () => firstOf(await liveKeys(store, base), base, after, limit)),
    removeItem: (key) => runWrite(() => remove(key)),
    getKeys: (base = '') => runOperation(() => liveKeys(store, base)),
    clear: (base = '') => runOperation(() => clearAll(store, base)),
    getMeta: (key) =>
      runOperation(() => {
        const stats = withLiveFile(store.slotOf(key).path, (file) => statSync(file))
        return stats === undefined ? null : { mtime: stats.mtime, size: stats.size }
      }),
    purge: () => runOperation(() => purge(store)),
    async *listItems() {
      await prepare()
      yield* listItems(store)
    },
    countItems: () => runOperation(() => countSlots(store)),
    dispose: sweeper.stop,
  }
}
