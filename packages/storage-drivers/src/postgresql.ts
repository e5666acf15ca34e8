import type { DriverChanges } from '@grantry/core'
import type { ListableDriver } from './copy/listable-driver.ts'
import { nameOf } from './postgresql/address.ts'
import { migrateTable, prepareServer } from './postgresql/check-server.ts'
import { createExecutor } from './postgresql/executor.ts'
import { createListing } from './postgresql/listing.ts'
import { counterLifetimeOf, futureOf, keyOf, lifetimeOf, storable } from './postgresql/parameters.ts'
import { createPool } from './postgresql/pool.ts'
import { createCommit } from './postgresql/postgresql-commit.ts'
import { type PostgresqlDriverOptions, type PostgresqlSettings, parseOptions } from './postgresql/postgresql-options.ts'
import { statementsOf } from './postgresql/postgresql-statements.ts'
import { readServerState, type ServerState } from './postgresql/server-state.ts'
import { storedItem } from './postgresql/stored-item.ts'
import { sweepRows } from './postgresql/sweep-rows.ts'
import { turnOperations } from './postgresql/turn.ts'
import { createWrites } from './postgresql/writes.ts'
import { createSweeper, type SweepState } from './sql/sweeper.ts'

export type { PostgresqlConnectionOptions, PostgresqlDriverOptions } from './postgresql/postgresql-options.ts'
export { type MigrationOptions, postgresqlMigration } from './postgresql/schema.ts'
export type { ServerState } from './postgresql/server-state.ts'
export type { SweepState } from './sql/sweeper.ts'

/**
 * An unstorage driver with an atomic insert; a test checks it against unstorage's type. `ttl` is in seconds; fractions
 * are allowed.
 */
export interface PostgresqlDriver extends ListableDriver {
  readonly name: 'postgresql'
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
  /** Returns every key that starts with `base`. For unstorage; the provider never calls it. */
  getKeys(base?: string, options?: object): Promise<string[]>
  clear(base?: string): Promise<void>
  /** How far the removal of expired items is behind. */
  sweepState(): SweepState
  /** For `grantry check`; the provider never calls it. */
  serverState(): Promise<ServerState>
  /**
   * Changes the settings of a table that an earlier version has created, unless an operator has changed them. For `grantry
   * storage migrate`; the provider never calls it.
   */
  migrate(): Promise<void>
  /** Closes all connections. */
  dispose(): Promise<void>
}

/** Opens once. After a failure, the next call tries again. Returns `undefined` when it is open. */
function openOnce(prepare: () => Promise<void>): () => Promise<void> | undefined {
  let opening: Promise<void> | undefined
  let isOpen = false
  return () => {
    if (isOpen) return undefined
    opening ??= prepare().then(
      () => {
        isOpen = true
      },
      (error) => {
        opening = undefined
        throw error
      },
    )
    return opening
  }
}

/** The statements of a driver, each of which opens it. */
function createOperations(settings: PostgresqlSettings) {
  const serverName = nameOf(settings.address)
  const pool = createPool(settings, serverName)
  const executor = createExecutor(pool, settings.timeout)
  const statements = statementsOf(settings)
  const sweeper = createSweeper({ where: serverName, removeExpired: sweepRows(executor, statements) })

  const open = openOnce(async () => {
    try {
      await prepareServer(executor, pool.errors, settings)
    } catch (error) {
      // A program that could not start exits by itself.
      pool.reset()
      throw new Error(`storage: ${(error as Error).message}`)
    }
    sweeper.start()
  })

  const opened =
    <P extends readonly unknown[], R>(operate: (...parameters: P) => Promise<R>) =>
    async (...parameters: P): Promise<R> => {
      const opening = open()
      if (opening !== undefined) await opening
      return operate(...parameters)
    }

  const turn = turnOperations(executor, statements)
  const write = createWrites(executor, statements, settings.timeout)
  const { allKeys, clearKeys, items, count, page } = createListing(executor, statements)
  return {
    open,
    sweeper,
    read: opened(turn.read),
    increment: opened(turn.increment),
    write: opened(write),
    commit: opened(createCommit(executor, statements, write)),
    replace: opened((...values: readonly [key: string, from: string, to: string, seconds: string]) =>
      executor.write(() => ({ statement: statements.replace, values })),
    ),
    remove: opened((key: string) => executor.write(() => ({ statement: statements.remove, values: [key] }))),
    allKeys: opened(allKeys),
    clearKeys: opened(clearKeys),
    page: opened(page),
    async *items() {
      await open()
      yield* items()
    },
    count: opened(count),
    serverState: opened(readServerState(executor)),
    migrate: opened(() => migrateTable(executor, settings)),
    close: pool.close,
  }
}

/**
 * Stores items in one table of a PostgreSQL database, for any number of processes and machines. Each operation is one
 * statement; the reads of one turn of the event loop share one, and so do its writes. While the database is unreachable, every operation rejects immediately or after `operationTimeout`; the
 * driver reconnects by itself.
 *
 * @throws TypeError when the options are malformed. `open()`, or the first operation, rejects when the server or the
 * table is unsuitable.
 * @see docs/decisions/0131-postgresql-driver.md
 * @example
 * const storage = postgresqlDriver({ url: 'postgresql://grantry:the-password@127.0.0.1/grantry' })
 */
export function postgresqlDriver(options: PostgresqlDriverOptions): PostgresqlDriver {
  const { open, sweeper, read, increment, write, commit, replace, remove, ...operations } = createOperations(
    parseOptions(options),
  )

  async function removeItem(key: string): Promise<void> {
    await remove(keyOf(key))
  }

  return {
    name: 'postgresql',
    open: async () => open(),
    async getItem(key) {
      const stored = keyOf(key)
      return (await read([stored])).get(stored) ?? null
    },
    async getItems(items) {
      if (items.length === 0) return []
      const keys = items.map(({ key }) => ({ key, stored: keyOf(key) }))
      const values = await read(keys.map(({ stored }) => stored))
      return keys.map(({ key, stored }) => ({ key, value: values.get(stored) ?? null }))
    },
    async hasItem(key) {
      const stored = keyOf(key)
      return (await read([stored])).has(stored)
    },
    async setItem(key, value, options) {
      const lifetime = lifetimeOf(options?.ttl)
      if (lifetime > 0) await write({ put: [storedItem(key, value, lifetime)] })
      else await removeItem(key)
    },
    async insertItem(key, value, { ttl }) {
      return write({ create: storedItem(key, value, futureOf(ttl, 'an inserted item')), put: [] })
    },
    incrementItem: async (key, { ttl }) => increment(keyOf(key), counterLifetimeOf(ttl)),
    commit,
    async replaceItem(key, { from, to, ttl }) {
      const lifetime = futureOf(ttl, 'a replaced item')
      return (await replace(keyOf(key), storable(from), storable(to), `${lifetime}`)).count === 1
    },
    listKeys: (base, { after, limit }) => operations.page(base, after, limit),
    removeItem,
    getKeys: (base = '') => operations.allKeys(base),
    clear: (base = '') => operations.clearKeys(base),
    listItems: operations.items,
    countItems: operations.count,
    sweepState: sweeper.state,
    serverState: operations.serverState,
    migrate: operations.migrate,
    async dispose() {
      operations.close()
      await sweeper.stop()
    },
  }
}
