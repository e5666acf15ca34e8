import { clientSchema, type Provider, type ProviderOptions, parseConfiguration } from '@grantry/core'
import { type DemoSecrets, demoSecrets } from '../demo/secrets.ts'
import { type KnownGrant, knownGrants } from './known-grants.ts'

/** A client as the page offers it. */
export interface KnownClient {
  readonly clientId: string
  readonly public: boolean
  readonly grantTypes: readonly string[]
  readonly scopes: readonly string[]
  readonly redirectUris: readonly string[]
}

/** What the page is told at its start. Of a real configuration it names no secret: the server has none but hashes. */
export interface ConsoleSetup {
  readonly issuer: string
  readonly paths: Provider['paths']
  /** Empty where clients come from a store: the page then lets one be typed. */
  readonly clients: readonly KnownClient[]
  readonly grants: readonly KnownGrant[]
  /** Names of scopes with a secret: APIs that may introspect. */
  readonly apis: readonly string[]
  /** Public, and in the demo only. */
  readonly demo?: DemoSecrets
}

function knownClients(clients: ProviderOptions['clients']): readonly KnownClient[] {
  if (!Array.isArray(clients)) return []
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

/** What the page of this server has to know. */
export const consoleSetup = (
  { issuer, paths }: Provider,
  { clients, scopes = [], plugins }: ProviderOptions,
  isDemo: boolean,
): ConsoleSetup => ({
  issuer,
  paths,
  clients: knownClients(clients),
  grants: knownGrants(plugins),
  apis: scopes.filter(({ secrets = [] }) => secrets.length > 0).map(({ name }) => name),
  ...(isDemo && { demo: demoSecrets }),
})
