import type { DriverChanges } from '@grantry/core'
import type { ListableDriver } from './copy/listable-driver.ts'
import { batchOperations } from './redis/batch-operations.ts'
import type { RedisClient } from './redis/client-factory.ts'
import { type Connections, createConnections } from './redis/connections.ts'
import { type ItemKeys, itemKeys } from './redis/item-key.ts'
import { createKeyIndex, replaceScript } from './redis/key-index.ts'
import { listItems } from './redis/list-items.ts'
import { createCommit } from './redis/redis-commit.ts'
import { parseOptions, type RedisDriverOptions } from './redis/redis-options.ts'
import { createScan } from './redis/scan.ts'
import { createWriter, type Writer } from './redis/writer.ts'

export type { ConnectionOptions, RedisClient, RedisLocation } from './redis/client-factory.ts'
export type { CommonRedisOptions, RedisDriverOptions } from './redis/redis-options.ts'

/**
 * An unstorage driver with an atomic insert; a test checks it against unstorage's type. `ttl` is in seconds; fractions
 * are allowed.
 */
export interface RedisDriver extends ListableDriver {
  readonly name: 'redis'
  open(): Promise<void>
  getItem(key: string): Promise<string | null>
  getItems(items: readonly { readonly key: string }[]): Promise<{ key: string; value: string | null }[]>
  hasItem(key: string): Promise<boolean>
  setItem(key: string, value: string, options?: { ttl?: number | undefined }): Promise<void>
  insertItem(key: string, value: string, options: { ttl: number }): Promise<boolean>
  incrementItem(key: string, options: { ttl: number }): Promise<number>
  /** Absent for a cluster: the items are on several servers. */
  readonly commit?: ((changes: DriverChanges) => Promise<true | readonly string[]>) | undefined
  removeItem(key: string): Promise<void>
  /** Returns every key that starts with `base`. For unstorage; the provider never calls it. */
  getKeys(base?: string, options?: object): Promise<string[]>
  clear(base?: string): Promise<void>
  /** Closes the connections that the driver created. */
  dispose(): Promise<void>
  getInstance(): RedisClient
}

/** Returns the expiry arguments of SET, in milliseconds; none for an item that never expires. */
function expiryArguments(ttl: number | undefined): readonly [] | readonly ['PX', number] {
  if (Number.isNaN(ttl)) throw new TypeError('The ttl of a stored item is not a number; give seconds')
  return ttl === undefined || ttl === Number.POSITIVE_INFINITY ? [] : ['PX', Math.ceil(ttl * 1000)]
}

/** Redis rejects PX 0, and SET without an expiry stores the item indefinitely. */
const isExpired = ([, milliseconds = 1]: ReturnType<typeof expiryArguments>): boolean => milliseconds < 1

/** Returns the milliseconds after which a new counter expires. */
function counterLifetime(ttl: number): number {
  const [, milliseconds = 0] = expiryArguments(ttl)
  if (Number.isSafeInteger(milliseconds) && milliseconds > 0) return milliseconds
  throw new RangeError(`The ttl of a counter is ${ttl} s; it must be more than 0 and end`)
}

const isText = (value: unknown): value is string | null => typeof value === 'string' || value === null

const createUnexpectedReply =
  ({ serverName }: Connections) =>
  (command: string): Error =>
    new Error(`${serverName} returned an unexpected reply to ${command}`)

const loneSurrogate = /[\uD800-\uDFFF]/u

const createReplace =
  (write: Writer, keys: ItemKeys, unexpectedReply: (command: string) => Error): RedisDriver['replaceItem'] =>
  async (key, { from, to, ttl }) => {
    const end = expiryArguments(ttl)
    if (isExpired(end)) throw new RangeError(`The ttl of a replaced item is ${ttl} s; give more than 0`)
    // In UTF-8, a lone surrogate would become U+FFFD, which the value of the item can contain.
    if (loneSurrogate.test(from)) return false
    const itemKey = keys.of(key)
    const reply = await write(itemKey, ['eval', replaceScript, 1, itemKey, from, to, ...end])
    if (reply !== 0 && reply !== 1) throw unexpectedReply('EVAL')
    return reply === 1
  }

/** Creates the operations on the connection for reads, where they never wait for replicas. */
function createReads(connections: Connections, keys: ItemKeys) {
  const { reads, open } = connections
  const batches = batchOperations(reads)
  const unexpectedReply = createUnexpectedReply(connections)
  return {
    async runUnconfirmed<T>(operate: (client: RedisClient) => Promise<T>): Promise<T> {
      const opening = open()
      if (opening !== undefined) await opening
      return reads.run(() => operate(reads.client))
    },
    async readValues(ofKeys: readonly string[]): Promise<readonly (string | null)[]> {
      const opening = open()
      if (opening !== undefined) await opening
      const values = await batches.read(ofKeys.map(keys.of))
      if (values.length !== ofKeys.length || !values.every(isText)) throw unexpectedReply('GET')
      return values
    },
    async increment(key: string, ttl: number): Promise<number> {
      const lifetime = counterLifetime(ttl)
      const opening = open()
      if (opening !== undefined) await opening
      // A counter that is lost in a failover restarts at 1.
      const [count] = await batches.increment(keys.of(key), lifetime)
      if (typeof count !== 'number') throw unexpectedReply('INCR')
      return count
    },
  }
}

/**
 * Stores items in Redis (one server, Sentinel or Cluster) for any number of processes and machines. The insert is `SET
 * NX`; Redis expires the items. While Redis is unreachable, every operation rejects immediately or after
 * `operationTimeout`; the driver reconnects by itself.
 *
 * @throws TypeError when the options are malformed. `open()`, or the first operation, rejects when the Redis
 * configuration is unsuitable.
 * @see docs/decisions/0014-redis-driver.md
 * @example
 * const storage = redisDriver({ url: 'redis://127.0.0.1:6379' })
 */
export function redisDriver(options: RedisDriverOptions): RedisDriver {
  const settings = parseOptions(options)
  const connections = createConnections(options, settings)
  const { reads, open } = connections
  const keys = itemKeys(settings.prefix)
  const { runUnconfirmed, readValues, increment } = createReads(connections, keys)
  const write = createWriter(connections, keys, settings)
  const scan = createScan(connections, keys)
  const unexpectedReply = createUnexpectedReply(connections)

  const replaceItem = createReplace(write, keys, unexpectedReply)
  const { indexed, listKeys } = createKeyIndex(write, runUnconfirmed, keys)

  async function removeItem(key: string): Promise<void> {
    const itemKey = keys.of(key)
    await write(itemKey, ['unlink', itemKey])
  }

  return {
    name: 'redis',
    open: async () => open(),
    async getItem(key) {
      const [value = null] = await readValues([key])
      return value
    },
    async getItems(items) {
      const values = await readValues(items.map(({ key }) => key))
      return items.map(({ key }, index) => ({ key, value: values[index] ?? null }))
    },
    hasItem: (key) => runUnconfirmed(async (client) => (await client.exists(keys.of(key))) === 1),
    async setItem(key, value, options) {
      const end = expiryArguments(options?.ttl)
      if (isExpired(end)) return removeItem(key)
      await indexed(key)
      const itemKey = keys.of(key)
      if ((await write(itemKey, ['set', itemKey, value, ...end])) !== 'OK') throw unexpectedReply('SET')
    },
    async insertItem(key, value, { ttl }) {
      const end = expiryArguments(ttl)
      if (isExpired(end)) throw new RangeError(`The ttl of an inserted item is ${ttl} s; give more than 0`)
      await indexed(key)
      const itemKey = keys.of(key)
      const reply = await write(itemKey, ['set', itemKey, value, 'NX', ...end])
      if (reply !== 'OK' && reply !== null) throw unexpectedReply('SET NX')
      return reply === 'OK'
    },
    incrementItem: (key, { ttl }) => increment(key, ttl),
    ...(!connections.writes.client.isCluster && { commit: createCommit({ write, connections, keys, settings }) }),
    replaceItem,
    listKeys,
    removeItem,
    async *listItems() {
      yield* listItems(scan(''), reads, keys)
    },
    async countItems() {
      let count = 0
      for await (const page of scan('')) count += page.length
      return count
    },
    async getKeys(base = '') {
      const unique = new Set<string>()
      for await (const page of scan(base)) for (const key of page) unique.add(key)
      return [...unique]
    },
    async clear(base = '') {
      // One UNLINK per key: in a cluster, the keys of a page are in different slots.
      for await (const page of scan(base)) await Promise.all(page.map(removeItem))
    },
    async dispose() {
      connections.dispose()
    },
    getInstance: () => reads.client,
  }
}
