// Purges repeatedly until its input ends, and prints the number of removed items.
import { once } from 'node:events'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print } from './filesystem-process.ts'

const driver = filesystemDriver({ directory: process.argv[2] ?? '' })
let stopped = false
process.stdin.resume()
const end = once(process.stdin, 'end').then(() => {
  stopped = true
})
print('ready')
let removed = 0
while (!stopped) removed += await driver.purge()
await end
print(`${removed}`)
