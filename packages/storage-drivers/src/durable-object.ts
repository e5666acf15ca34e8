import type { AtomicDriver } from '@grantry/core'
import type { Row, SqlDatabase } from './sqlite/engine.ts'
import { itemTable } from './sqlite/item-table.ts'
import { assertPrefix, schemaVersion, statementsFor } from './sqlite/sqlite-statements.ts'
import { purgeRows, sweepRows } from './sqlite/sweep-rows.ts'
import { type StepRunner, type TableOperations, tableOperations } from './sqlite/table-driver.ts'

/** The part of the storage of a Durable Object that the driver uses. The class must be in `new_sqlite_classes`. */
export interface DurableObjectSqlStorage {
  readonly sql: {
    exec(statement: string, ...values: unknown[]): { toArray(): Record<string, unknown>[] }
  }
  transactionSync<T>(act: () => T): T
}

export interface DurableObjectDriverOptions {
  /** `ctx.storage` of the Durable Object in which the provider runs. */
  readonly storage: DurableObjectSqlStorage
  /** Prefix of the table's name, `<prefix>_items`. Default: `grantry`. */
  readonly prefix?: string | undefined
}

/** A driver with atomic operations, also for unstorage. */
export interface DurableObjectDriver extends TableOperations, Omit<AtomicDriver, keyof TableOperations> {
  readonly name: 'durable-object'
  open(): Promise<void>
  /** Removes every expired item, and resolves to their number. Call it from an alarm. */
  purge(): Promise<number>
}

/**
 * Stores items in the SQLite database of a Durable Object. There is one object per name, so every request of a provider
 * must reach the same one. Responses leave the object only once its writes are durable.
 *
 * @throws TypeError when an option is invalid. `open()`, or the first operation, rejects when the storage is unusable.
 * @example
 * const storage = durableObjectDriver({ storage: ctx.storage })
 */
export function durableObjectDriver({ storage, prefix = 'grantry' }: DurableObjectDriverOptions): DurableObjectDriver {
  if (typeof storage?.sql?.exec !== 'function' || typeof storage.transactionSync !== 'function') {
    throw new TypeError(
      'durableObjectDriver(): storage must be ctx.storage of a Durable Object whose class is in new_sqlite_classes',
    )
  }
  assertPrefix(prefix, 'durableObjectDriver()')
  const statements = statementsFor(prefix)
  const all = (sql: string, ...values: readonly unknown[]): readonly Row[] => storage.sql.exec(sql, ...values).toArray()
  const database: SqlDatabase = { all, run: (sql, ...values) => void all(sql, ...values) }
  let isReady = false

  function prepare(): SqlDatabase {
    if (isReady) return database
    storage.transactionSync(() => {
      for (const statement of statements.schema) database.run(statement)
    })
    const version = database.all(statements.version)[0]?.value
    if (version !== schemaVersion) {
      throw new Error(
        `storage: the table ${statements.table} of the Durable Object has version ${version}, and this version of Grantry supports version ${schemaVersion}; use the version that wrote it, or another prefix`,
      )
    }
    isReady = true
    return database
  }

  const table = itemTable(statements)
  // Nothing else runs in the object meanwhile, so all reads of a step see one state.
  const runner: StepRunner = {
    read: (step) => step(prepare()),
    readTogether: (step) => step(prepare()),
    write(step) {
      const prepared = prepare()
      return storage.transactionSync(() => step(prepared))
    },
  }
  const sweep = sweepRows(table, runner.read, (_, act) => storage.transactionSync(act))
  return {
    name: 'durable-object',
    async open() {
      prepare()
    },
    ...tableOperations(table, runner),
    purge: () => purgeRows(sweep),
  }
}
