import { type RedisDriver, type RedisDriverOptions, redisDriver } from '@grantry/storage-drivers/redis'
import { afterEach } from 'vitest'

/** Creates Redis drivers that are disposed of after each test. */
export function redisDrivers(): (options: RedisDriverOptions) => RedisDriver {
  const made: RedisDriver[] = []
  afterEach(async () => {
    await Promise.all(made.splice(0).map((driver) => driver.dispose()))
  })
  return (options) => {
    const driver = redisDriver(options)
    made.push(driver)
    return driver
  }
}
