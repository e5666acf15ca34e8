import {
  collectParts,
  directorySchemasOf,
  type Plugins,
  type Provider,
  type ProviderOptions,
  parseConfiguration,
} from '@grantry/core'
import { type KnownGrant, knownGrants } from './known-grants.ts'

/** The values that the console of the demo fills in. Public, like every secret of the demo. */
export interface DemoSecrets {
  readonly clients: Readonly<Record<string, string>>
  readonly apis: Readonly<Record<string, string>>
  /** User names and passwords. */
  readonly users: readonly { readonly username: string; readonly password: string }[]
  /** Values for grant parameters. */
  readonly fields: Readonly<Record<string, string>>
}

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
  /** The algorithms of DPoP proofs (RFC 9449 section 5.1); absent if the server has no DPoP. */
  readonly dpopAlgorithms?: readonly string[]
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

/** Returns the algorithms of DPoP proofs that the plugins publish in the discovery document. */
function dpopAlgorithms(plugins: Plugins): readonly string[] {
  return collectParts(plugins)
    .map(({ part }) => (part.kind === 'fields' ? part.metadata?.dpop_signing_alg_values_supported : undefined))
    .flatMap((published) => (Array.isArray(published) ? published : []))
    .filter((name) => typeof name === 'string')
}

/**
 * Returns the setup of the page for this server.
 *
 * @param demo the secrets that the page fills in; `undefined` unless they are public
 */
export function consoleSetup(
  { issuer, paths }: Provider,
  options: ProviderOptions,
  demo: DemoSecrets | undefined,
): ConsoleSetup {
  const algorithms = dpopAlgorithms(options.plugins)
  return {
    issuer,
    paths,
    clients: knownClients(options),
    grants: knownGrants(options.plugins),
    apis: (options.scopes ?? []).filter(({ secrets = [] }) => secrets.length > 0).map(({ name }) => name),
    ...(algorithms.length > 0 && { dpopAlgorithms: algorithms }),
    ...(demo !== undefined && { demo }),
  }
}
