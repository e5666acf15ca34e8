// Writes until it is killed, and prints each completed operation: `<key> <number>` after a write, `<key> -` after a
// removal.
import { setImmediate } from 'node:timers/promises'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print } from '../../support/start-concurrently.ts'

const [directory = '', fsync = '', first = ''] = process.argv.slice(2)
const driver = filesystemDriver({ directory, fsync: fsync === 'fsync' })
await driver.open()
await print('ready')
for (let number = Number(first); ; number += 1) {
  const key = `key:${number % 7}`
  const value = `${number}:`.repeat(500)
  if (number % 5 === 4) {
    await driver.removeItem(key)
    await print(`${key} -`)
  } else if (number % 2 === 0 || (await driver.insertItem(key, value, { ttl: 3600 })) === false) {
    await driver.setItem(key, value, { ttl: 3600 })
    await print(`${key} ${number}`)
  } else {
    await print(`${key} ${number}`)
  }
  await setImmediate()
}
