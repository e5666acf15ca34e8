// Locks the file for writing until its input ends.
import { once } from 'node:events'
import Database from 'libsql'
import { print } from '../../support/start-concurrently.ts'

const database = new Database(process.argv[2] ?? '')
database.exec('BEGIN IMMEDIATE')
await print('locked')
await once(process.stdin.resume(), 'end')
database.exec('ROLLBACK')
database.close()
