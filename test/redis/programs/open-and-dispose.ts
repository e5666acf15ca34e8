// Opens a driver with the options in its argument, uses it and disposes of it. Nothing else keeps the process alive.
import { redisDriver } from '@grantry/storage-drivers/redis'

const driver = redisDriver(JSON.parse(process.argv[2] ?? '{}'))
try {
  await driver.open()
  await driver.setItem('key', 'value', { ttl: 60 })
  await driver.dispose()
  console.log('disposed of')
} catch (error) {
  console.log((error as Error).message)
}
