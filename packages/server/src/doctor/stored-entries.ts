import { kinds, managedIn } from '@grantry/administration'
import {
  type ClientOptions,
  configurationProblems,
  type EntryKind,
  type EntryStore,
  openEntries,
  type Provider,
  type ScopeOptions,
} from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import type { Facts } from './facts.ts'

/**
 * The maximum number of entries that are checked: more would take minutes. Each change is checked when it is made, so
 * only a change of the configuration can make an entry invalid.
 */
const maxChecked = 1000

/** Clients and scopes in the storage. */
export interface StoredEntries {
  readonly clients: readonly ClientOptions[]
  readonly scopes: readonly ScopeOptions[]
  /** The mistakes of entries that another version has written. */
  readonly problems: Facts['storedProblems']
}

const none: StoredEntries = { clients: [], scopes: [], problems: [] }

async function readKind<T extends object>(
  entries: EntryStore,
  type: Parameters<typeof managedIn<T>>[0],
): Promise<{ readonly values: readonly T[]; readonly problems: Facts['storedProblems'] }> {
  const values: T[] = []
  const problems: { where: string; reason: string }[] = []
  let after: string | undefined
  do {
    const page = await entries.list(type.kind as EntryKind, { after, limit: maxChecked })
    for (const entry of page.entries) {
      const managed = managedIn(type, entry)
      if (managed === undefined) {
        problems.push({ where: `storage: ${type.noun} ${entry.id}`, reason: 'A newer version may have written it' })
      } else values.push(managed.value)
    }
    after = page.next
  } while (after !== undefined && values.length < maxChecked)
  return { values: values.slice(0, maxChecked), problems }
}

/** Reads the clients and scopes in the storage: none if the storage cannot be read, which is another finding. */
export async function readStoredEntries({ configuration, directory }: LoadedConfiguration): Promise<StoredEntries> {
  if (!configuration.administration || configuration.storage.driver === 'memory') return none
  const { driver } = await configuredStorage(configuration.storage, directory)
  try {
    await driver.open?.()
    const entries = openEntries({ issuer: configuration.issuer, storage: driver })
    const [clients, scopes] = await Promise.all([
      readKind(entries, kinds.client.type),
      readKind(entries, kinds.scope.type),
    ])
    return { clients: clients.values, scopes: scopes.values, problems: [...clients.problems, ...scopes.problems] }
  } catch {
    return none
  } finally {
    await driver.dispose?.()
  }
}

/** Returns the mistakes of stored clients. @param provider one that knows the stored scopes */
export function problemsOfStored(
  { clients, problems }: StoredEntries,
  configured: ReadonlySet<string>,
  provider: Pick<Provider, 'checkClient'>,
): Facts['storedProblems'] {
  const ofClients = clients.flatMap((client) => {
    const where = `storage: client ${client.clientId}`
    if (configured.has(client.clientId)) return [{ where, reason: 'It is in the configuration, too' }]
    try {
      provider.checkClient(client)
      return []
    } catch (thrown) {
      return configurationProblems(thrown).map((reason) => ({ where, reason }))
    }
  })
  return [...problems, ...ofClients]
}
