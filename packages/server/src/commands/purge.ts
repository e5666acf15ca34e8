import { inFile } from '../configuration/in-file.ts'
import { configuredStorage } from '../configuration/storage.ts'
import { configured } from './configured.ts'

const byThemselves = {
  memory:
    'The storage is in the memory of the server, which drops what has expired by itself: there is nothing to do.\n',
  redis: 'Redis drops what has expired by itself: there is nothing to do.\n',
} as const

/** `grantry purge`: removes what has expired from files now; a server does so in small steps while it writes. */
export async function purgeCommand({ config }: { readonly config?: string }): Promise<string> {
  const { configuration, directory, file } = await configured(config)
  const { storage } = configuration
  if (storage.driver !== 'filesystem') return byThemselves[storage.driver]
  const { driver, description } = await configuredStorage(storage, directory)
  try {
    const { purge } = driver as { readonly purge?: () => Promise<number> }
    const removed = (await purge?.()) ?? 0
    return `${removed} expired ${removed === 1 ? 'item was' : 'items were'} removed (${description}).\n`
  } catch (cause) {
    throw inFile(cause, file)
  } finally {
    await driver.dispose?.()
  }
}
