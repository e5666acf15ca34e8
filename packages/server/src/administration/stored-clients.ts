import { clientsOfOrigin, kinds, originId, readEntry } from '@grantry/administration'
import { defineClientSource, definePlugin, type EntryStore, type Plugin, webRuntime } from '@grantry/core'
import { createEntryCache } from './entry-cache.ts'

export interface StoredClientsOptions {
  readonly entries: Pick<EntryStore, 'getWithRevision'>
  /** Seconds for which a client is used without reading it again. */
  readonly cacheFor: number
}

/** A source of the clients in the storage. The provider parses each object once, and the cache returns the same one. */
export function storedClients(options: StoredClientsOptions): Plugin {
  const cache = createEntryCache({
    ...options,
    kind: 'client',
    parse: (entry) => readEntry(kinds.client.type, entry).value,
  })
  const origins = createEntryCache({
    ...options,
    kind: 'origin',
    parse: (entry) => clientsOfOrigin(entry).length > 0,
  })
  const source = defineClientSource({
    find: (clientId, kit) => cache.find(clientId, kit.now()),
    renew: (clientId, kit, { always = false } = {}) =>
      always ? cache.read(clientId, kit.now()) : cache.renew(clientId, kit.now()),
    isOriginAllowed: async (origin, kit) => (await origins.find(originId(origin, webRuntime), kit.now())) ?? false,
  })
  return definePlugin('stored-clients', [source])
}
