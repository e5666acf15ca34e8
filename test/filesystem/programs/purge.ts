// Purges repeatedly, from the first line of its input until it ends, and prints the number of removed items.
import { once } from 'node:events'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print } from '../../support/start-concurrently.ts'

const driver = filesystemDriver({ directory: process.argv[2] ?? '' })
let stopped = false
const end = once(process.stdin, 'end').then(() => {
  stopped = true
})
await print('ready')
await once(process.stdin, 'data')
let removed = 0
while (!stopped) removed += await driver.purge()
await end
await print(`${removed}`)
