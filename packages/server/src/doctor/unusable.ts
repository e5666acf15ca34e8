// The rules for a configuration with which the server does not start.
import { each, type RulePart, type RuleText } from '../check-rules/rule.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'

const urn = 'urn:ietf:params:oauth:grant-type:'

/** The plugins that provide each grant type, authentication method and member of a client. */
const providers: Readonly<Record<string, string | readonly string[]>> = {
  [`${urn}device_code`]: 'device-authorization',
  [`${urn}jwt-bearer`]: ['id-jag', 'jwt-bearer'],
  [`${urn}token-exchange`]: ['id-jag', 'token-exchange'],
  private_key_jwt: 'client-assertion',
  client_secret_jwt: 'client-assertion',
  self_signed_tls_client_auth: 'mtls',
  workload_jwt: 'workload-identity',
  spiffe_jwt: 'workload-identity',
  workload: 'workload-identity',
  jwks: ['client-assertion', 'mtls'],
  jwksUri: ['client-assertion', 'mtls'],
  tokenEndpointAuthAudience: 'client-assertion',
  tokenEndpointAuthSigningAlg: 'client-assertion',
  dpopBoundAccessTokens: 'dpop',
  tlsClientAuthSubjectDn: 'mtls',
  tlsClientAuthSanDns: 'mtls',
  tlsClientAuthSanUri: 'mtls',
  tlsClientAuthSanIp: 'mtls',
  tlsClientAuthSanEmail: 'mtls',
  tlsClientCertificateBoundAccessTokens: 'mtls',
  profile: 'fapi2',
  backchannelLogoutSessionRequired: 'sign-in',
  backchannelLogoutUri: 'sign-in',
  clientColor: 'sign-in',
  clientName: 'sign-in',
  clientUri: 'sign-in',
  contacts: 'sign-in',
  defaultMaxAge: 'sign-in',
  initiateLoginUri: 'sign-in',
  logoUri: 'sign-in',
  policyUri: 'sign-in',
  requireConsent: 'sign-in',
  requirePushedAuthorizationRequests: 'sign-in',
  scopeChoice: 'sign-in',
  selfDescribed: 'sign-in',
  tosUri: 'sign-in',
}

interface WrittenClient {
  readonly grantTypes?: unknown
  readonly tokenEndpointAuthMethod?: unknown
  readonly jwks?: unknown
  readonly jwksUri?: unknown
}

/** Returns what a client uses, with its path. */
const usesOf = (client: WrittenClient, path: string): readonly (readonly [use: unknown, where: string])[] => [
  ...(Array.isArray(client.grantTypes) ? client.grantTypes : []).map(
    (grantType: unknown, index) => [grantType, `${path}.grantTypes[${index}]`] as const,
  ),
  [client.tokenEndpointAuthMethod, `${path}.tokenEndpointAuthMethod`],
  ...Object.keys(client).map((member) => [member, `${path}.${member}`] as const),
]

/** Returns the clients as they are written, and how to know whether a plugin is there. */
function writtenClients({ configuration: { clients, plugins = [] } = { clients: [] } }: Unusable) {
  if (!Array.isArray(clients)) return []
  const named: readonly string[] = plugins.filter(isNamedPlugin).map(({ name }) => name)
  // A module can contain any plugin.
  const areKnown = plugins.every(isNamedPlugin)
  const isMissing = (some: readonly string[]): boolean => areKnown && !some.some((plugin) => named.includes(plugin))
  return clients.flatMap((client: WrittenClient | null, index) =>
    typeof client === 'object' && client !== null ? [{ client, path: `clients[${index}]`, isMissing }] : [],
  )
}

/** A configuration that the server refuses. */
export interface Unusable {
  readonly file: string
  readonly problems: readonly string[]
  /** Absent if it cannot be read. */
  readonly configuration?: Pick<CheckedConfiguration, 'clients' | 'plugins'> | undefined
}

export const pluginMissing: RuleText = {
  id: 'plugin-missing',
  severity: 'error',
  remedy: 'add it to plugins, as its guide describes',
  source: 'docs/guides/configuration.md',
}

/** What is wrong, and for clients why: a plugin that they use is missing, or they are incomplete for it. */
export const unusableRules: readonly RulePart<Unusable>[] = [
  {
    id: 'configuration-invalid',
    severity: 'error',
    remedy: 'fix the configuration; the server does not start with it',
    source: 'docs/guides/configuration.md',
    check: ({ file, problems }) => problems.map((reason) => ({ where: file, reason })),
  },
  each(writtenClients, [
    {
      ...pluginMissing,
      check: ({ client, path, isMissing }) =>
        usesOf(client, path).flatMap(([use, where]) => {
          const some = typeof use === 'string' && Object.hasOwn(providers, use) ? [providers[use] ?? []].flat() : []
          const reason = `${use} needs the plugin ${some.join(' or ')}, which is not in plugins`
          return some.length > 0 && isMissing(some) ? [{ where, reason }] : []
        }),
    },
    {
      id: 'client-without-keys',
      severity: 'error',
      remedy: 'set jwks to the public keys of the client, or jwksUri to the URL at which it publishes them',
      source: 'RFC 7523 section 3; RFC 8705 section 2.2; docs/guides/client-assertion.md',
      check: ({ client: { tokenEndpointAuthMethod: method, jwks, jwksUri }, path }) =>
        (method === 'private_key_jwt' || method === 'self_signed_tls_client_auth') &&
        jwks === undefined &&
        jwksUri === undefined && {
          where: `${path}.tokenEndpointAuthMethod`,
          reason: `The client authenticates with ${method}, but has neither jwks nor jwksUri`,
        },
    },
  ]),
]
