import { refused, type StoredScopes } from '@grantry/administration'
import type { ClientOptions } from '@grantry/core'
import { configuredClients } from '../configuration/configured-clients.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { checked, withEntryChecks } from './try-provider.ts'

/** @throws RefusedError when a client with this id is in the configuration. */
export function assertClientNotConfigured(
  { clientId }: ClientOptions,
  { configuration, file }: Pick<LoadedConfiguration, 'configuration' | 'file'>,
): void {
  if (!configuredClients(configuration).some((client) => client.clientId === clientId)) return
  const message = `${file}: clients has a client ${clientId} already; edit it there`
  throw refused('exists', message, { member: 'clientId' })
}

/** Returns a function that rejects when the provider would refuse a client, which can have the scopes in the storage. */
export function createClientCheck(loaded: LoadedConfiguration, storedScopes: Pick<StoredScopes, 'list'>) {
  return async (client: ClientOptions): Promise<void> => {
    assertClientNotConfigured(client, loaded)
    const tried = { path: 'clients[0]', called: `client ${client.clientId}` }
    await withEntryChecks(loaded, await storedScopes.list(), ({ checkClient }) =>
      checked(client, (each) => checkClient(each), tried),
    )
  }
}
