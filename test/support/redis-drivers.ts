import { type RedisDriver, type RedisDriverOptions, redisDriver } from '@grantry/storage-drivers/redis'
import { afterAll, afterEach } from 'vitest'
import { lastResort } from './eventually.ts'

/**
 * Creates Redis drivers that are disposed of after each test, or after the last one when the tests of a file run
 * concurrently. They wait long for a response: a test that needs a limit sets one.
 */
export function redisDrivers({ concurrent = false } = {}): (options: RedisDriverOptions) => RedisDriver {
  const made: RedisDriver[] = []
  const end = concurrent ? afterAll : afterEach
  end(async () => {
    await Promise.all(made.splice(0).map((driver) => driver.dispose()))
  })
  return (options) => {
    const driver = redisDriver({ operationTimeout: lastResort / 1000, ...options })
    made.push(driver)
    return driver
  }
}
