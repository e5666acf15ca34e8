// The SQLite driver with an engine whose connections a test can reach.
import type { SqliteDriver } from '@grantry/storage-drivers/sqlite'
import { createDriver } from '../../packages/storage-drivers/src/sqlite/driver.ts'
import { loadEngine, type SqliteConnection } from '../../packages/storage-drivers/src/sqlite/engine.ts'
import { parseOptions } from '../../packages/storage-drivers/src/sqlite/sqlite-options.ts'

export interface ObservedDriver {
  readonly driver: SqliteDriver
  /** The statements that the driver has performed. */
  readonly performed: readonly string[]
  /** Performs a statement on the connection of the driver. */
  perform(sql: string): void
  /** Called before each statement; it can throw the error of a disk. */
  before: (sql: string) => void
}

export function observedDriver(file: string): ObservedDriver {
  const performed: string[] = []
  let last: SqliteConnection | undefined
  const observed: ObservedDriver = {
    performed,
    driver: createDriver(parseOptions({ file }), () => {
      const open = loadEngine()
      return (path) => {
        const connection = open(path)
        last = connection
        const observe = (sql: string): void => {
          performed.push(sql)
          observed.before(sql)
        }
        return {
          ...connection,
          all(sql, ...values) {
            observe(sql)
            return connection.all(sql, ...values)
          },
          run(sql, ...values) {
            observe(sql)
            connection.run(sql, ...values)
          },
        }
      }
    }),
    perform: (sql) => void last?.all(sql),
    before() {},
  }
  return observed
}
