// The rules for a configuration with which the server does not start.
import { collectParts } from '@grantry/core'
import { each, type RulePart, type RuleText } from '../check-rules/rule.ts'
import { completePlugins, isNamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'

const urn = 'urn:ietf:params:oauth:grant-type:'

/** Features that need a function, so that no named plugin provides them. */
const withFunctions: readonly (readonly [use: string, plugin: string])[] = [
  [`${urn}jwt-bearer`, 'jwt-bearer'],
  [`${urn}token-exchange`, 'token-exchange'],
  ['client_secret_jwt', 'client-assertion'],
]

/** Returns the grant types, authentication methods and members of clients that a part of a plugin adds. */
function usesIn({ part }: ReturnType<typeof collectParts>[number]): readonly string[] {
  if (part.kind === 'fields') return Object.keys(part.client ?? {})
  if (part.kind === 'grant') return [part.grantType]
  return part.kind === 'client-authentication' ? [part.method] : []
}

/** Returns the plugins that provide each grant type, authentication method and member of a client. */
export function providersOf(): ReadonlyMap<unknown, readonly string[]> {
  const ofNames = completePlugins().flatMap(({ name, plugins }) =>
    collectParts(plugins).flatMap((part) => usesIn(part).map((use) => [use, name] as const)),
  )
  const providers = new Map<string, readonly string[]>()
  for (const [use, plugin] of [...ofNames, ...withFunctions]) {
    providers.set(use, [...new Set([...(providers.get(use) ?? []), plugin])])
  }
  return providers
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
  const providers = providersOf()
  return clients.flatMap((client: WrittenClient | null, index) =>
    typeof client === 'object' && client !== null ? [{ client, path: `clients[${index}]`, isMissing, providers }] : [],
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

/**
 * The rules for mistakes of a configuration. For clients, they name the cause: a plugin is missing, or the client is
 * incomplete for it.
 */
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
      check: ({ client, path, isMissing, providers }) =>
        usesOf(client, path).flatMap(([use, where]) => {
          const some = providers.get(use) ?? []
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
