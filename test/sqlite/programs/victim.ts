// Commits until it is killed, and prints the number of each commit that has succeeded: `victim.mjs <file> <name>`.
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { print } from '../../support/start-concurrently.ts'

const [file = '', name = ''] = process.argv.slice(2)
const driver = sqliteDriver({ file, operationTimeout: 60 })
const ttl = 3600
await driver.setItem(`code:${name}:0`, '{}', { ttl })
await print('ready')
for (let number = 0; ; number += 1) {
  await driver.commit({
    create: [{ key: `spent:${name}:${number}`, value: '{}', ttl }],
    put: [
      { key: `access:${name}:${number}`, value: 'x'.repeat(3000), ttl },
      { key: `code:${name}:${number + 1}`, value: '{}', ttl },
    ],
    remove: [`code:${name}:${number}`],
  })
  await print(`${number}`)
}
