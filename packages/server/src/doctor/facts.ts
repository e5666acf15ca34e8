import type { AtomicDriver, ClientWithSecrets, KeyInfo, Provider, RuleFinding, ScopeWithSecrets } from '@grantry/core'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { ConfiguredUser } from '../configuration/users-schema.ts'

/** A file that the server reads, and its permissions. */
export interface FileFact {
  readonly path: string
  /** Permission bits; `undefined` on a system without them. */
  readonly mode: number | undefined
  /** `secret`: only the owner may read it. */
  readonly kind: 'configuration' | 'secret'
}

/** The state of the storage. */
export type StoreFact =
  | { readonly reachable: false; readonly reason: string }
  | {
      readonly reachable: true
      readonly driver: Pick<AtomicDriver, 'name'>
      /** Seconds by which its clock is ahead of ours; `undefined` if it has no clock of its own. */
      readonly clockAhead: number | undefined
      /** Whether a failover to a replica can lose confirmed writes. */
      readonly hasAsynchronousReplicas?: boolean
    }

/** A client of the server or of a tenant. */
export interface ConfiguredClient {
  readonly client: ClientWithSecrets
  readonly path: string
  readonly issuer: string
  /** The id, with the issuer for a client of a tenant. */
  readonly name: string
}

/** The input of the checks, which are pure functions. */
export interface Facts {
  readonly configuration: CheckedConfiguration
  /** The configured clients, with defaults; empty if they are in an external store. */
  readonly clients: readonly ClientWithSecrets[]
  readonly hasExternalClients: boolean
  /** The clients of tenants in the configuration, with defaults. */
  readonly tenantClients: readonly ConfiguredClient[]
  /** Why tenants of the configuration cannot be opened. */
  readonly tenantProblems: readonly { readonly where: string; readonly reason: string }[]
  /** The clients in the storage that have no mistake. */
  readonly storedClients: readonly ClientWithSecrets[]
  /** The configured scopes, with defaults. */
  readonly scopes: readonly ScopeWithSecrets[]
  readonly users: readonly ConfiguredUser[]
  /** Why the database of the users cannot be used; `undefined` if it can, or there is none. */
  readonly userDatabaseProblem?: string | undefined
  /** Why mails cannot be sent; `undefined` if they can, or there is no mail server. */
  readonly mailProblem?: string | undefined
  /** The providers of the sign-in that do not respond. */
  readonly unreachable: readonly { readonly where: string; readonly reason: string }[]
  readonly files: readonly FileFact[]
  /** Epoch seconds of the last change to the file in `keys.jwks`. */
  readonly keyFileChangedAt: number | undefined
  /** The stored keys; `undefined` if the storage could not be read. */
  readonly keys: readonly KeyInfo[] | undefined
  /** The available signing algorithms. The first is the default. */
  readonly signingAlgorithms: readonly string[]
  /** The discovery document. */
  readonly metadata: Provider['metadata']
  readonly store: StoreFact
  /** What is wrong with clients and scopes in the storage. */
  readonly storedProblems: readonly { readonly where: string; readonly reason: string }[]
  /** The findings of the rules of the core and of plugins, for the server and for tenants in the configuration. */
  readonly ofProvider: readonly RuleFinding[]
  /** The startup warnings of the provider. */
  readonly warnings: readonly { readonly reason: string; readonly message: string }[]
  /** Epoch seconds. */
  readonly now: number
}

/** Returns the clients of the server and those of its tenants, for rules that apply to both. */
export const allClients = ({
  clients,
  tenantClients,
  configuration: { issuer },
}: Pick<Facts, 'clients' | 'tenantClients' | 'configuration'>): readonly ConfiguredClient[] => [
  ...clients.map((client, index) => ({ client, path: `clients[${index}]`, issuer, name: client.clientId })),
  ...tenantClients,
]
