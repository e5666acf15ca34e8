import type { AtomicDriver } from '@grantry/core'
import { createSweeper, type SweepState } from './sql/sweeper.ts'
import { createDatabase } from './sqlite/database.ts'
import { itemTable } from './sqlite/item-table.ts'
import { inTransaction } from './sqlite/open-database.ts'
import { parseOptions, type SqliteDriverOptions } from './sqlite/options.ts'
import { type StepRunner, sweepRows, type TableOperations, tableOperations } from './sqlite/table-driver.ts'

export type { StoredItem } from './sqlite/item-table.ts'
export type { SqliteDriverOptions } from './sqlite/options.ts'

/** An unstorage driver with atomic operations; a test checks it against unstorage's type. */
export interface SqliteDriver extends TableOperations, Omit<AtomicDriver, keyof TableOperations> {
  readonly name: 'sqlite'
  open(): Promise<void>
  /** How far the removal of expired items is behind. */
  sweepState(): SweepState
  /** Performs the writes that wait, and closes the file. */
  dispose(): Promise<void>
}

/**
 * Stores items in a SQLite file, for one machine and any number of processes. The writes of one turn of the event loop
 * share a transaction, and thus a wait for the disk.
 *
 * @throws TypeError when an option is invalid. `open()`, or the first operation, rejects when the file is unusable.
 * @example
 * const storage = sqliteDriver({ file: '/var/lib/grantry/grantry.db' })
 */
export function sqliteDriver(options: SqliteDriverOptions): SqliteDriver {
  const settings = parseOptions(options)
  const database = createDatabase(settings)
  const table = itemTable(settings.statements)
  const runner: StepRunner = {
    read: database.read,
    readTogether: (step) =>
      database.read((connection) => inTransaction(connection, 'DEFERRED', () => step(connection))),
    write(step) {
      // unstorage does not call `open()`.
      sweeper.start()
      return database.write(step)
    },
  }
  const sweeper = createSweeper({ where: settings.file, removeExpired: sweepRows(table, database) })
  return {
    name: 'sqlite',
    async open() {
      await database.open()
      sweeper.start()
    },
    ...tableOperations(table, runner),
    sweepState: sweeper.state,
    async dispose() {
      await sweeper.stop()
      await database.dispose()
    },
  }
}
