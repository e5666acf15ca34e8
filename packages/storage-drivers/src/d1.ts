import type { DriverChanges } from '@grantry/core'
import type { ListableDriver } from './copy/listable-driver.ts'
import { createCommit, hexKey } from './d1/d1-commit.ts'
import { type D1Statements, d1Statements } from './d1/d1-statements.ts'
import { createExecutor, type D1Binding, type D1Executor } from './d1/executor.ts'
import { createListing } from './d1/list-items.ts'
import { packKey, pageRange, unpackKey } from './sql/item-key.ts'
import { assertLasting, endOf } from './sqlite/item-end.ts'
import { bytesOf, decodeValue, encodeValue } from './sqlite/item-value.ts'
import { assertPrefix, schemaVersion } from './sqlite/sqlite-statements.ts'

export type { D1Binding } from './d1/executor.ts'

export interface D1DriverOptions {
  /** The binding of the database, not a session of it: a replica may not know yet what was revoked. */
  readonly database: D1Binding
  /** Prefix of the table's name, `<prefix>_items`. Default: `grantry`. */
  readonly prefix?: string | undefined
}

/** A driver with atomic operations. `ttl` is in seconds; fractions are allowed. */
export interface D1Driver extends ListableDriver {
  readonly name: 'd1'
  open(): Promise<void>
  getItem(key: string): Promise<string | null>
  getItems(items: readonly { readonly key: string }[]): Promise<{ key: string; value: string | null }[]>
  hasItem(key: string): Promise<boolean>
  setItem(key: string, value: string, options?: { ttl?: number | undefined }): Promise<void>
  insertItem(key: string, value: string, options: { ttl: number }): Promise<boolean>
  incrementItem(key: string, options: { ttl: number }): Promise<number>
  commit(changes: DriverChanges): Promise<true | readonly string[]>
  replaceItem(key: string, change: { from: string; to: string; ttl: number }): Promise<boolean>
  listKeys(base: string, page: { after: string; limit: number }): Promise<string[]>
  removeItem(key: string): Promise<void>
  /** Removes every expired item in steps, and resolves to their number. Call it from a cron trigger. */
  purge(): Promise<number>
}

/** Rows that one statement of `purge()` removes. */
const purgeLimit = 1000

/**
 * Returns a function that creates the table if needed, once. Concurrent calls do not share a promise: a Worker must not
 * wait for the I/O of another request.
 */
function createPreparation({ batch }: D1Executor, sql: D1Statements): () => Promise<void> {
  let isReady = false
  return async () => {
    if (isReady) return
    const results = await batch([...sql.schema.map((statement) => [statement] as const), [sql.version]])
    const version = results.at(-1)?.[0]?.value
    if (version !== schemaVersion) {
      throw new Error(
        `storage: the table ${sql.table} of D1 has version ${version}, and this version of Grantry supports version ${schemaVersion}; use the version that wrote it, or another prefix`,
      )
    }
    isReady = true
  }
}

function createReads(executor: D1Executor, sql: D1Statements) {
  return async (keys: readonly string[]): Promise<(string | null)[]> => {
    const hexKeys = keys.map(hexKey)
    const rows = await executor.all(sql.readAll, JSON.stringify(hexKeys), Date.now())
    const values = new Map(rows.map(({ key, value }) => [key, decodeValue(value)]))
    return hexKeys.map((key) => values.get(key) ?? null)
  }
}

/** The operations for lists and entries that several requests change. */
function entryOperations(
  executor: D1Executor,
  sql: D1Statements,
  prepare: () => Promise<void>,
): Pick<D1Driver, 'replaceItem' | 'listKeys'> {
  return {
    async replaceItem(key, { from, to, ttl }) {
      assertLasting(ttl, 'a replaced item')
      await prepare()
      const now = Date.now()
      const values = [encodeValue(from), encodeValue(to)] as const
      const rows = await executor.all(sql.replace, packKey(key), ...values, endOf(ttl, now), now)
      return rows.length > 0
    },
    async listKeys(base, { after, limit }) {
      await prepare()
      const rows = await executor.all(sql.page, ...pageRange(base, after), Date.now(), limit)
      return rows.map(({ key }) => unpackKey(bytesOf(key)))
    },
  }
}

/**
 * Stores items in D1, for Workers. Every operation is one trip to the primary database.
 *
 * @throws TypeError when an option is invalid. `open()`, or the first operation, rejects when the database is unusable.
 * @example
 * const storage = d1Driver({ database: env.DB })
 */
export function d1Driver({ database, prefix = 'grantry' }: D1DriverOptions): D1Driver {
  if (typeof database?.prepare !== 'function' || typeof database.batch !== 'function') {
    throw new TypeError('d1Driver(): database must be the binding of a D1 database')
  }
  if ('getBookmark' in database) {
    throw new TypeError('d1Driver(): database must be the binding itself, not a session: its replicas are not current')
  }
  assertPrefix(prefix, 'd1Driver()')
  const sql = d1Statements(prefix)
  const executor = createExecutor(database)
  const prepare = createPreparation(executor, sql)
  const readAll = createReads(executor, sql)
  const commit = createCommit(executor, sql)

  async function removeItem(key: string): Promise<void> {
    await prepare()
    await executor.all(sql.remove, packKey(key))
  }

  return {
    name: 'd1',
    open: prepare,
    async getItem(key) {
      await prepare()
      const [value = null] = await readAll([key])
      return value
    },
    async getItems(items) {
      await prepare()
      const values = await readAll(items.map(({ key }) => key))
      return items.map(({ key }, index) => ({ key, value: values[index] ?? null }))
    },
    async hasItem(key) {
      await prepare()
      return (await readAll([key]))[0] !== null
    },
    async setItem(key, value, { ttl } = {}) {
      if (Number.isNaN(ttl)) throw new TypeError('The ttl of a stored item is not a number; give seconds')
      if (ttl !== undefined && ttl <= 0) return removeItem(key)
      await prepare()
      await executor.all(sql.put, packKey(key), encodeValue(value), endOf(ttl, Date.now()))
    },
    async insertItem(key, value, { ttl }) {
      assertLasting(ttl, 'an inserted item')
      await prepare()
      const now = Date.now()
      const rows = await executor.all(sql.insert, packKey(key), encodeValue(value), endOf(ttl, now), now)
      return rows.length > 0
    },
    async incrementItem(key, { ttl }) {
      assertLasting(ttl, 'a counter')
      await prepare()
      const now = Date.now()
      const [row] = await executor.all(sql.increment, packKey(key), endOf(ttl, now), now)
      const value = row?.value
      if (typeof value !== 'string' || !/^\d{1,16}$/u.test(value) || !Number.isSafeInteger(Number(value))) {
        throw new TypeError('The stored item of this key is not a counter')
      }
      return Number(value)
    },
    async commit(changes) {
      await prepare()
      return commit(changes)
    },
    ...entryOperations(executor, sql, prepare),
    removeItem,
    ...createListing(executor, sql, prepare),
    async purge() {
      await prepare()
      for (let removed = 0; ; ) {
        const rows = await executor.all(sql.sweep, Date.now(), purgeLimit)
        removed += rows.length
        if (rows.length < purgeLimit) return removed
      }
    },
  }
}
