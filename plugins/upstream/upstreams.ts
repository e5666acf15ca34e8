import type { NewLink } from '../shared/linked-providers.ts'
import { type Connection, createConnection } from './connection.ts'
import type { Settings } from './options.ts'
import { createTokens, type UpstreamTokens } from './verify.ts'

export type Listeners = ReadonlySet<(link: NewLink) => Promise<void>>

/** A provider, with what its callback needs. */
export interface Upstream {
  readonly connection: Connection
  readonly tokens: UpstreamTokens
  /** What to call after a new link. */
  readonly listeners: Listeners
}

/** Creates the connections to all providers, by their names. None sends a request before a user needs it. */
export const createUpstreams = (settings: Settings, listeners: Listeners): ReadonlyMap<string, Upstream> =>
  new Map(
    settings.providers.map((provider) => {
      const connection = createConnection(provider, settings)
      return [provider.name, { connection, tokens: createTokens(provider, connection.outgoing, settings), listeners }]
    }),
  )
