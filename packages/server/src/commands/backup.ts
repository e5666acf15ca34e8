import { resolve } from 'node:path'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorMessage } from '../error-message.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'

const others = {
  memory: 'which only the server process can access',
  filesystem: 'which is a directory: copy it while the servers are stopped',
  postgresql: 'use pg_dump, or the backups of your database',
  redis: 'use the snapshots of Redis',
} as const

/** Runs `grantry backup`: copies a SQLite file that servers use. */
export async function backupCommand(target: string, { config }: { readonly config?: string }): Promise<string> {
  const { configuration, directory, file } = await requireConfiguration(config)
  const { storage } = configuration
  if (storage.driver !== 'sqlite') {
    throw new TypeError(`${file}: storage.driver is ${storage.driver}, ${others[storage.driver]}`)
  }
  const { driver, description } = await configuredStorage(storage, directory)
  const { backup } = driver as { readonly backup?: (file: string) => Promise<void> }
  try {
    await driver.open?.()
    await backup?.(resolve(target))
    return `Wrote ${resolve(target)} (${description}). It contains the signing keys: keep it as secret as the storage.\n`
  } catch (cause) {
    throw new Error(`${file}: ${errorMessage(cause)}`, { cause })
  } finally {
    await driver.dispose?.()
  }
}
