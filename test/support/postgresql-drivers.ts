import {
  type PostgresqlDriver,
  type PostgresqlDriverOptions,
  postgresqlDriver,
} from '@grantry/storage-drivers/postgresql'
import { afterAll, afterEach } from 'vitest'
import { lastResort } from './eventually.ts'

/**
 * Creates PostgreSQL drivers that are disposed of after each test, or after the last one when the tests of a file run
 * concurrently. They wait long for a response: a test that needs a limit sets one.
 */
export function postgresqlDrivers({ concurrent = false } = {}): (options: PostgresqlDriverOptions) => PostgresqlDriver {
  const made: PostgresqlDriver[] = []
  const end = concurrent ? afterAll : afterEach
  end(async () => {
    await Promise.all(made.splice(0).map((driver) => driver.dispose()))
  })
  return (options) => {
    const driver = postgresqlDriver({ operationTimeout: lastResort / 1000, ...options })
    made.push(driver)
    return driver
  }
}
