// Purges again and again until its input ends, and prints how much it removed.
import { once } from 'node:events'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print } from './filesystem-process.ts'

const driver = filesystemDriver({ directory: process.argv[2] ?? '' })
let told = false
process.stdin.resume()
const end = once(process.stdin, 'end').then(() => {
  told = true
})
print('ready')
let removed = 0
while (!told) removed += await driver.purge()
await end
print(`${removed}`)
