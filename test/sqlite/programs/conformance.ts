// Runs the conformance kit on the SQLite driver, in any runtime: `conformance.mjs <file>`.
import process from 'node:process'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { proveDriver } from '@grantry/testing/drivers'

const [, , file = ''] = process.argv
const { text } = await proveDriver({
  open: () => sqliteDriver({ file, operationTimeout: 30 }),
  operationTimeout: 30,
})
console.log(text.split('\n')[0])
