// Inserts the same keys as other processes at the same time, and prints the keys that it won.
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print, starting } from '../../support/start-concurrently.ts'

const [directory = '', name = '', count = ''] = process.argv.slice(2)
const driver = filesystemDriver({ directory })
await driver.open()
await starting()
const won: number[] = []
for (let key = 0; key < Number(count); key += 1) {
  if (await driver.insertItem(`spent:${key}`, name, { ttl: 3600 })) won.push(key)
}
await print(JSON.stringify(won))
