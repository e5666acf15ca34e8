import type { NewLink } from '../shared/linked-providers.ts'
import { findLink } from './links.ts'
import { createTokenKeeper, type TokenKeeper } from './token-keeper.ts'
import { type Connection, createConnection } from './upstream-connection.ts'
import type { Settings } from './upstream-options.ts'
import { createTokens, type UpstreamTokens } from './verify.ts'

export type Listeners = ReadonlySet<(link: NewLink) => Promise<void>>

/** A provider, with the services of its callback. */
export interface Upstream {
  readonly connection: Connection
  readonly tokens: UpstreamTokens
  /** The functions that are called after a new link. */
  readonly listeners: Listeners
  /** Keeps the tokens of all providers that ask for it. */
  readonly keeper: TokenKeeper
}

/** Creates the connections to all providers, by their names. None sends a request before a user needs it. */
export function createUpstreams(settings: Settings, listeners: Listeners) {
  const upstreams = new Map<string, Upstream>()
  const keeper = createTokenKeeper(settings, {
    connectionOf: (name) => upstreams.get(name)?.connection,
    ownerOf: async (kit, account) => (await findLink(kit, account))?.sub,
  })
  for (const provider of settings.providers) {
    const connection = createConnection(provider, settings)
    const tokens = createTokens(provider, connection.outgoing, settings)
    upstreams.set(provider.name, { connection, tokens, listeners, keeper })
  }
  return { upstreams: upstreams as ReadonlyMap<string, Upstream>, keeper }
}
