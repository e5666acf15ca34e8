import type { AtomicDriver } from '@grantry/core'
import { createSweeper, type SweepState } from '../sql/sweeper.ts'
import { backupTo } from './backup.ts'
import { createDatabase } from './database.ts'
import type { OpenConnection } from './engine.ts'
import { itemTable } from './item-table.ts'
import { inTransaction } from './open-database.ts'
import type { SqliteSettings } from './sqlite-options.ts'
import { purgeRows, sweepRows } from './sweep-rows.ts'
import { type StepRunner, type TableOperations, tableOperations } from './table-driver.ts'

/** An unstorage driver with atomic operations; a test checks it against unstorage's type. */
export interface SqliteDriver extends TableOperations, Omit<AtomicDriver, keyof TableOperations> {
  readonly name: 'sqlite'
  open(): Promise<void>
  /** Removes every expired item now, in steps, and resolves to their number. */
  purge(): Promise<number>
  /**
   * Copies the whole database to a new file, while all processes continue. The call blocks the event loop of this one, so
   * copy a large database in a process of its own.
   */
  backup(file: string): Promise<void>
  /** How far the removal of expired items is behind. */
  sweepState(): SweepState
  /** Performs the writes that wait, and closes the file. */
  dispose(): Promise<void>
}

/** @param loadEngine returns the engine; called when the file is opened */
export function createDriver(settings: SqliteSettings, loadEngine: () => OpenConnection): SqliteDriver {
  const database = createDatabase(settings, loadEngine)
  const table = itemTable(settings.statements)
  const sweep = sweepRows(table, database.read, (connection, act) => inTransaction(connection, 'IMMEDIATE', act))
  const sweeper = createSweeper({ where: settings.file, removeExpired: sweep })
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
  return {
    name: 'sqlite',
    async open() {
      await database.open()
      sweeper.start()
    },
    ...tableOperations(table, runner),
    backup: async (file) => database.read(backupTo(file)),
    purge: () => purgeRows(sweep),
    sweepState: sweeper.state,
    async dispose() {
      const stopped = sweeper.stop()
      await database.dispose()
      await stopped
    },
  }
}
