import { directorySchemasOf, type Provider, type ProviderOptions, parseConfiguration } from '@grantry/core'
import { type DemoSecrets, demoSecrets } from '../demo/configuration.ts'
import { type KnownGrant, knownGrants } from './known-grants.ts'

/** A client that the page offers. */
export interface KnownClient {
  readonly clientId: string
  readonly public: boolean
  readonly grantTypes: readonly string[]
  readonly scopes: readonly string[]
  readonly redirectUris: readonly string[]
}

/** The data that the page loads first. For a real configuration it contains no secrets. */
export interface ConsoleSetup {
  readonly issuer: string
  readonly paths: Provider['paths']
  /** Empty if clients come from a store. The page then has a text field for the client. */
  readonly clients: readonly KnownClient[]
  readonly grants: readonly KnownGrant[]
  /** Names of scopes with a secret, which can introspect tokens. */
  readonly apis: readonly string[]
  /** The public secrets of the demo; absent otherwise. */
  readonly demo?: DemoSecrets
}

function knownClients({ clients, plugins }: ProviderOptions): readonly KnownClient[] {
  if (!Array.isArray(clients)) return []
  const { clientSchema } = directorySchemasOf(plugins)
  return clients
    .map((client: unknown, index) => parseConfiguration(clientSchema, client, `clients[${index}]`))
    .filter(({ enabled }) => enabled)
    .map(({ clientId, public: isPublic, grantTypes, scopes, redirectUris }) => ({
      clientId,
      public: isPublic,
      grantTypes,
      scopes,
      redirectUris,
    }))
}

/** Returns the setup of the page for this server. */
export const consoleSetup = ({ issuer, paths }: Provider, options: ProviderOptions, isDemo: boolean): ConsoleSetup => ({
  issuer,
  paths,
  clients: knownClients(options),
  grants: knownGrants(options.plugins),
  apis: (options.scopes ?? []).filter(({ secrets = [] }) => secrets.length > 0).map(({ name }) => name),
  ...(isDemo && { demo: demoSecrets }),
})
