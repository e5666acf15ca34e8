import { storedEntries } from '@grantry/administration'
import type { EntryKind, EntryStore, Plugin } from '@grantry/core'
import { configuredClients } from '../configuration/configured-clients.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'

/**
 * Returns the plugin that serves the clients and scopes in the storage.
 *
 * @param cacheFor seconds until running servers see a change of a client
 * @throws TypeError when one is in the configuration and in the storage.
 */
export async function storedDirectory(
  configuration: CheckedConfiguration,
  { entries, cacheFor }: { readonly entries: EntryStore; readonly cacheFor: number },
): Promise<Plugin> {
  async function assertNotStored(kind: EntryKind, ids: Iterable<string>): Promise<void> {
    const found = await Promise.all([...ids].map((id) => entries.get(kind, id)))
    const [twice] = found.flatMap((entry) => entry ?? [])
    if (twice === undefined) return
    throw new TypeError(
      `${kind}s: the ${kind} ${twice.id} is in the storage, too; remove it here, or there with grantry ${kind}s remove`,
    )
  }

  const clientIds = configuredClients(configuration).map(({ clientId }) => clientId)
  const scopeNames = configuration.scopes.map(({ name }) => name)
  await Promise.all([assertNotStored('client', clientIds), assertNotStored('scope', scopeNames)])
  return storedEntries({ entries, cacheFor })
}
