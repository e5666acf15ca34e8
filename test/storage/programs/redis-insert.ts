// One of several processes that insert the same items at the same time. Prints the numbers of the items that it
// created.
import { redisDriver } from '@grantry/storage-drivers/redis'
import { print, starting } from './filesystem-process.ts'

const [, , options = '{}', name = '', count = '0'] = process.argv
const driver = redisDriver(JSON.parse(options))
await driver.open()
await starting()
const answers = await Promise.all(
  Array.from({ length: Number(count) }, (_, index) => driver.insertItem(`spent:${index}`, name, { ttl: 600 })),
)
for (const [index, created] of answers.entries()) if (created) print(String(index))
await driver.dispose()
