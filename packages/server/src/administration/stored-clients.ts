import { clientType, readEntry } from '@grantry/administration'
import {
  type ClientOptions,
  defineClientSource,
  definePlugin,
  type Entry,
  type EntryStore,
  type Plugin,
} from '@grantry/core'

interface CachedClient {
  readonly version: string
  readonly client: ClientOptions
  /** Epoch seconds. */
  readonly readAt: number
}

export interface StoredClientsOptions {
  readonly entries: Pick<EntryStore, 'getWithRevision'>
  /** Seconds for which a client is used without reading it again. */
  readonly cacheFor: number
  /** Whether the configuration has a client with this id: it is not looked up in the storage. */
  readonly isConfigured: (clientId: string) => boolean
}

/**
 * Seconds after which a client is read again in any case: a command that was killed can have changed it without a new
 * revision.
 */
const longestCache = 60

/** Maximum number of clients that a process remembers. */
const maxCached = 10_000

/** @throws TypeError when a newer version has written the entry: the client could be disabled. */
const clientIn = (entry: Entry): ClientOptions => readEntry(clientType, entry).value

/**
 * A source of the clients in the storage. It remembers clients until one of them changes: a read of any client, or of an
 * unknown one, shows whether that has happened. An unknown id is not remembered, so that a new client works immediately.
 */
export function storedClients({ entries, cacheFor, isConfigured }: StoredClientsOptions): Plugin {
  const cached = new Map<string, CachedClient>()
  /** The ids in `cached` that were current at `checkedAt`. */
  let current = new Set<string>()
  let revision: string | undefined
  let checkedAt = Number.NEGATIVE_INFINITY

  function keep(clientId: string, found: CachedClient | undefined): void {
    cached.delete(clientId)
    current.delete(clientId)
    if (found === undefined) return
    cached.set(clientId, found)
    if (cached.size <= maxCached) return
    const [oldest = ''] = cached.keys()
    cached.delete(oldest)
    current.delete(oldest)
  }

  async function read(clientId: string, now: number): Promise<ClientOptions | undefined> {
    const known = revision
    const { revision: read, entry } = await entries.getWithRevision('client', clientId)
    const before = cached.get(clientId)
    // The provider parses each object once.
    const client = before?.version === entry?.version ? before?.client : entry && clientIn(entry)
    keep(clientId, entry && client && { version: entry.version, client, readAt: now })
    if (revision !== known) return client
    if (read === known) {
      checkedAt = now
      if (client !== undefined) current.add(clientId)
    } else {
      // The entry may have been read before the change that the revision shows. The next read decides.
      revision = read
      current = new Set()
      checkedAt = Number.NEGATIVE_INFINITY
    }
    return client
  }

  const source = defineClientSource({
    find(clientId, kit) {
      if (isConfigured(clientId)) return undefined
      const now = kit.now()
      const known = cached.get(clientId)
      const isFresh = Math.abs(now - checkedAt) < cacheFor && current.has(clientId)
      return isFresh && known !== undefined && Math.abs(now - known.readAt) < longestCache
        ? known.client
        : read(clientId, now)
    },
  })
  return definePlugin('stored-clients', [source])
}
