// Opens a file as a user without write access: root switches to another user first.
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { print } from '../../support/start-concurrently.ts'

const [file = '', user = ''] = process.argv.slice(2)
if (user !== '') process.setuid?.(Number(user))
const refused = await sqliteDriver({ file })
  .open()
  .catch((error: Error) => error)
await print(refused instanceof Error ? refused.message : 'opened')
