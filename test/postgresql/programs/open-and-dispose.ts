// Opens a driver with the options in its argument, uses it and disposes of it. Nothing else keeps the process alive.
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'

const driver = postgresqlDriver(JSON.parse(process.argv[2] ?? '{}'))
try {
  await driver.open()
  await driver.setItem('key', 'value', { ttl: 60 })
  await driver.dispose()
  console.log('disposed of')
} catch (error) {
  console.log((error as Error).message)
}
