import { type AtomicDriver, type ClientOptions, createProvider, type EntryStore, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { adapterOfThisRuntime } from '../adapter.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorInFile } from '../error-message.ts'
import { createAudit } from './audit.ts'
import { manageClients } from './manage-clients.ts'

/** The clients in the storage of a configuration, for a command. */
export interface Administration {
  readonly clients: ReturnType<typeof manageClients>
  readonly entries: EntryStore
}

const isList = (clients: LoadedConfiguration['configuration']['clients']): clients is readonly ClientOptions[] =>
  Array.isArray(clients)

/**
 * Returns a function that rejects when the provider would refuse a client. A provider on an empty storage checks it, with
 * all plugins of the configuration.
 */
function createCheck(loaded: LoadedConfiguration) {
  return async (client: ClientOptions): Promise<void> => {
    const { clients } = loaded.configuration
    if (isList(clients) && clients.some(({ clientId }) => clientId === client.clientId)) {
      throw new TypeError(`${loaded.file}: clients has a client ${client.clientId} already; edit it there`)
    }
    const configuration = { ...loaded.configuration, clients: [client], administration: false, keys: {} }
    const options = await providerOptions({ ...loaded, configuration }, memoryDriver(), () => {})
    const { runtime } = await adapterOfThisRuntime()
    const provider = await createProvider({ ...options, runtime }).catch((cause: unknown) => {
      const { message } = cause as Error
      throw new TypeError(message.replaceAll('clients[0]', `client ${client.clientId}`), { cause })
    })
    await provider.close()
  }
}

/**
 * Opens the clients in the storage of a configuration, calls `use` with them, and closes the storage.
 *
 * @throws TypeError with a one-line message if the storage cannot keep clients, and whatever `use` throws.
 */
export async function withAdministration<T>(
  loaded: LoadedConfiguration,
  use: (administration: Administration) => Promise<T>,
): Promise<T> {
  const { configuration, directory, file } = loaded
  if (!configuration.administration) {
    throw new TypeError(
      `${file}: clients cannot be changed by commands; set "administration": true, and restart the server`,
    )
  }
  const { driver } = await configuredStorage(configuration.storage, directory)
  try {
    const entries = await open(driver, loaded)
    const now = Date.now
    const clients = manageClients({ entries, check: createCheck(loaded), audit: createAudit(entries, now), now })
    return await use({ clients, entries })
  } finally {
    await driver.dispose?.()
  }
}

async function open(driver: AtomicDriver, { configuration, file }: LoadedConfiguration): Promise<EntryStore> {
  try {
    await driver.open?.()
    return openEntries({ issuer: configuration.issuer, storage: driver })
  } catch (cause) {
    throw errorInFile(cause, file)
  }
}
