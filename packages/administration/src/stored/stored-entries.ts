import {
  defineClientSource,
  definePlugin,
  defineScopeSource,
  type EntryStore,
  type Plugin,
  webRuntime,
} from '@grantry/core'
import { clientsOfOrigin, originId } from '../clients/manage-clients.ts'
import { kinds } from '../kinds/kinds.ts'
import { readEntry } from '../managed-entry.ts'
import { createEntryCache } from './entry-cache.ts'
import { storedScopes } from './stored-scopes.ts'

export interface StoredEntriesOptions {
  readonly entries: Pick<EntryStore, 'getWithRevision' | 'list' | 'revision'>
  /** Seconds for which a client is used without reading it again: until a change by another process is seen. */
  readonly cacheFor: number
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
}

/**
 * The plugin that serves the clients and scopes in the storage, which `openAdministration()` changes. The provider parses
 * each object once, and the cache returns the same one.
 */
export function storedEntries({ entries, cacheFor, now }: StoredEntriesOptions): Plugin {
  const clients = createEntryCache({
    entries,
    cacheFor,
    kind: 'client',
    parse: (entry) => readEntry(kinds.client.type, entry).value,
  })
  const origins = createEntryCache({
    entries,
    cacheFor,
    kind: 'origin',
    parse: (entry) => clientsOfOrigin(entry).length > 0,
  })
  return definePlugin('stored-entries', [
    defineClientSource({
      find: (clientId, kit) => clients.find(clientId, kit.now()),
      renew: (clientId, kit, { always = false } = {}) =>
        always ? clients.read(clientId, kit.now()) : clients.renew(clientId, kit.now()),
      isOriginAllowed: async (origin, kit) => (await origins.find(originId(origin, webRuntime), kit.now())) ?? false,
    }),
    defineScopeSource(storedScopes(entries, now)),
  ])
}
