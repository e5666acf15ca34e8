import { refused } from '@grantry/administration'
import type { ClientOptions } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { StoredScopes } from './stored-scopes.ts'
import { tryProvider } from './try-provider.ts'

const isList = (clients: CheckedConfiguration['clients']): clients is readonly ClientOptions[] => Array.isArray(clients)

/** The clients of the configuration; none if a function of the host finds them. */
export const configuredClients = ({ clients }: CheckedConfiguration): readonly ClientOptions[] =>
  isList(clients) ? clients : []

/** Returns a function that rejects when the provider would refuse a client. It can have the scopes in the storage. */
export function createClientCheck(loaded: LoadedConfiguration, storedScopes: StoredScopes) {
  const { configuration, file } = loaded
  return async (client: ClientOptions): Promise<void> => {
    if (configuredClients(configuration).some(({ clientId }) => clientId === client.clientId)) {
      const message = `${file}: clients has a client ${client.clientId} already; edit it there`
      throw refused('exists', message, { member: 'clientId' })
    }
    const scopes = [...configuration.scopes, ...(await storedScopes.list())]
    await tryProvider(
      loaded,
      { clients: [client], scopes },
      { path: 'clients[0]', called: `client ${client.clientId}` },
    )
  }
}
