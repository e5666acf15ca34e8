// Opens a directory at the same time as other processes, and writes an item.
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { print, starting } from '../../support/start-concurrently.ts'

const [directory = '', name = ''] = process.argv.slice(2)
const driver = filesystemDriver({ directory })
await starting()
await driver.open()
await driver.setItem(name, name)
await print('opened')
