import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { counted } from '../counted.ts'
import { errorInFile } from '../error-message.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'

const nothingToDo = {
  memory: 'Nothing to do: the storage is in the memory of the server, which deletes expired items by itself.\n',
  sqlite: 'Nothing to do: the servers delete expired items by themselves, within seconds.\n',
  postgresql: 'Nothing to do: the servers delete expired items by themselves, within seconds.\n',
  redis: 'Nothing to do: Redis deletes expired items by itself.\n',
} as const

/** Runs `grantry purge`: deletes all expired files now. A server deletes them in small steps while it writes. */
export async function purgeCommand({ config }: { readonly config?: string }): Promise<string> {
  const { configuration, directory, file } = await requireConfiguration(config)
  const { storage } = configuration
  if (storage.driver !== 'filesystem') return nothingToDo[storage.driver]
  const { driver, description } = await configuredStorage(storage, directory)
  try {
    const { purge } = driver as { readonly purge?: () => Promise<number> }
    const removed = (await purge?.()) ?? 0
    return `Deleted ${counted(removed, 'expired item')} (${description}).\n`
  } catch (cause) {
    throw errorInFile(cause, file)
  } finally {
    await driver.dispose?.()
  }
}
