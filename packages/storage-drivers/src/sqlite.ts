import { createDriver, type SqliteDriver } from './sqlite/driver.ts'
import { loadEngine } from './sqlite/engine.ts'
import { parseOptions, type SqliteDriverOptions } from './sqlite/sqlite-options.ts'

export type { SweepState } from './sql/sweeper.ts'
export type { SqliteDriver } from './sqlite/driver.ts'
/** Whether `sqliteDriver()` works in this runtime without a further package. */
export { hasEngine as isSqliteAvailable } from './sqlite/engine.ts'
export type { StoredItem } from './sqlite/item-table.ts'
export type { SqliteDriverOptions } from './sqlite/sqlite-options.ts'
export type { TableOperations } from './sqlite/table-driver.ts'

/**
 * Stores items in a SQLite file, for one machine and any number of processes. The writes of one turn of the event loop
 * share a transaction, and thus a wait for the disk.
 *
 * @throws TypeError when an option is invalid. `open()`, or the first operation, rejects when the file is unusable.
 * @see docs/decisions/0134-sqlite-d1-and-durable-objects.md
 * @example
 * const storage = sqliteDriver({ file: '/var/lib/grantry/grantry.db' })
 */
export const sqliteDriver = (options: SqliteDriverOptions): SqliteDriver =>
  createDriver(parseOptions(options), loadEngine)
