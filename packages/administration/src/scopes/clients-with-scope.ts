import type { ClientOptions, EntryStore } from '@grantry/core'
import { clientType } from '../clients/client-type.ts'
import { createPages, type EntryManager, pagesOf } from '../manage-entries.ts'
import { refused } from '../refusal.ts'

type Clients = readonly Pick<ClientOptions, 'clientId' | 'scopes'>[]

/** The maximum number of clients that an error names. */
const maxNamed = 5

const namesOf = (clientIds: readonly string[]): string =>
  clientIds.length > maxNamed ? `${clientIds.slice(0, maxNamed).join(', ')} and others` : clientIds.join(', ')

const withScope = (clients: Clients, scope: string): readonly string[] =>
  clients.filter(({ scopes = [] }) => scopes.includes(scope)).map(({ clientId }) => clientId)

/**
 * Refuses to remove a scope that a client of the configuration has: the server would not start again.
 *
 * @throws RefusedError `in_use`
 */
export function assertNotConfigured(scope: string, clients: Clients): void {
  const clientIds = withScope(clients, scope)
  if (clientIds.length === 0) return
  const message = `the scope ${scope} belongs to clients in the configuration (${namesOf(clientIds)}), and the server would not start without it; remove it from them first`
  throw refused('in_use', message)
}

/**
 * Refuses to remove a scope that clients in the storage have. Reads pages of clients until it knows enough to name.
 *
 * @throws RefusedError `in_use`
 */
export async function assertNotStored(
  scope: string,
  entries: Pick<EntryStore, 'list'>,
  messageOf: (clients: string) => string = (clients) =>
    `the scope ${scope} belongs to clients (${clients}), which could no longer get it; remove it from them, disable the scope, or force the removal`,
): Promise<void> {
  const clientIds: string[] = []
  for await (const page of pagesOf(createPages(clientType, entries))) {
    const clients = page.entries.map(({ value }) => value)
    clientIds.push(...withScope(clients, scope))
    if (clientIds.length > maxNamed) break
  }
  if (clientIds.length === 0) return
  throw refused('in_use', messageOf(namesOf(clientIds)))
}

/** Takes a scope from the clients in the storage that have it. Each is a change of its own. */
export async function withdrawScope(
  scope: string,
  clients: Pick<EntryManager<ClientOptions>, 'page' | 'replace'>,
): Promise<void> {
  for await (const { entries } of pagesOf(clients.page)) {
    for (const clientId of withScope(
      entries.map(({ value }) => value),
      scope,
    )) {
      await clients.replace(clientId, ({ scopes = [], ...client }) => ({
        ...client,
        scopes: scopes.filter((name) => name !== scope),
      }))
    }
  }
}
