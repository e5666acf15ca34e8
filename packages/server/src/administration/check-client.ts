import { refused } from '@grantry/administration'
import { type ClientOptions, createProvider } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { adapterOfThisRuntime } from '../adapter.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'

const isList = (clients: LoadedConfiguration['configuration']['clients']): clients is readonly ClientOptions[] =>
  Array.isArray(clients)

/** The path of a member in the message of a provider with one client. */
const place = /clients\[0\]\.?([\w.[\]]*)/u

/**
 * Returns a function that rejects when the provider would refuse a client. A provider on an empty storage checks it, with
 * all plugins of the configuration.
 */
export function createClientCheck(loaded: LoadedConfiguration) {
  return async (client: ClientOptions): Promise<void> => {
    const { clients } = loaded.configuration
    if (isList(clients) && clients.some(({ clientId }) => clientId === client.clientId)) {
      const message = `${loaded.file}: clients has a client ${client.clientId} already; edit it there`
      throw refused('exists', message, { member: 'clientId' })
    }
    const configuration = { ...loaded.configuration, clients: [client], administration: false, keys: {} }
    const options = await providerOptions({ ...loaded, configuration }, memoryDriver(), () => {})
    const { runtime } = await adapterOfThisRuntime()
    const provider = await createProvider({ ...options, runtime }).catch((cause: unknown) => {
      const { message } = cause as Error
      const member = place.exec(message)?.[1]
      const named = message.replaceAll('clients[0]', `client ${client.clientId}`)
      throw refused('invalid', named, { member: member === '' ? undefined : member, cause })
    })
    await provider.close()
  }
}
