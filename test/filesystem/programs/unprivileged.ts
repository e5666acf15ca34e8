// Opens a directory as a user without write access: root switches to another user first.
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print } from '../../support/start-concurrently.ts'

const [directory = '', user = ''] = process.argv.slice(2)
if (user !== '') process.setuid?.(Number(user))
const refused = await filesystemDriver({ directory })
  .open()
  .catch((error: Error) => error)
await print(refused instanceof Error ? refused.message : 'opened')
