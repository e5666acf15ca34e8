import { type Connection, createConnection } from './connection.ts'
import type { Settings } from './options.ts'
import { createTokens, type UpstreamTokens } from './verify.ts'

/** A provider, with what its callback needs. */
export interface Upstream {
  readonly connection: Connection
  readonly tokens: UpstreamTokens
}

/** Creates the connections to all providers, by their names. None sends a request before a user needs it. */
export const createUpstreams = (settings: Settings): ReadonlyMap<string, Upstream> =>
  new Map(
    settings.providers.map((provider) => {
      const connection = createConnection(provider, settings)
      return [provider.name, { connection, tokens: createTokens(provider, connection.outgoing, settings) }]
    }),
  )
