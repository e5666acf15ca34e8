// Overwrites one item with values of one repeated character until its input ends.
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print } from './filesystem-process.ts'

const [directory = '', size = ''] = process.argv.slice(2)
const driver = filesystemDriver({ directory, fsync: false })
let stopped = false
process.stdin.resume()
const end = once(process.stdin, 'end').then(() => {
  stopped = true
})
let count = 0
const write = async (): Promise<void> => {
  await driver.setItem('record', String.fromCharCode(97 + (count % 26)).repeat(Number(size)), { ttl: 3600 })
  count += 1
}
await write()
print('ready')
while (!stopped) {
  await write()
  await setImmediate()
}
await end
