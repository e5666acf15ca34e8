import type { Provider } from '@grantry/core'
import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { isAddress, localPort } from '../local-address.ts'

/** A setting that works but should change, with a stable reason code. */
export interface ServerWarning {
  readonly reason: string
  readonly message: string
}

/** Returns the configured clients that need an authorization endpoint, if there is none. */
export function clientsWithoutSignIn(
  { clients }: Pick<CheckedConfiguration, 'clients'>,
  { metadata }: Pick<Provider, 'metadata'>,
): readonly string[] {
  if (metadata.authorization_endpoint !== undefined || !Array.isArray(clients)) return []
  return clients.flatMap(({ clientId, enabled, grantTypes }) =>
    enabled !== false && grantTypes?.includes('authorization_code') ? [clientId] : [],
  )
}

/** Whether the clients of a plugin describe or register themselves, and need a sign-in. */
export const describesClients = (
  plugin: object | string,
): plugin is Extract<NamedPlugin, { readonly name: 'client-metadata' | 'registration' }> =>
  isNamedPlugin(plugin) &&
  (plugin.name === 'client-metadata' || plugin.name === 'registration') &&
  (plugin.grantTypes?.includes('authorization_code') ?? true)

/** Whether users are to sign in on the pages of the server, but none is configured, and none can be in the storage. */
export const hasNoUsers = ({
  plugins = [],
  users,
  administration,
}: Pick<CheckedConfiguration, 'plugins' | 'users' | 'administration'>): boolean =>
  !administration &&
  Array.isArray(users) &&
  users.length === 0 &&
  plugins.some((plugin) => isNamedPlugin(plugin) && plugin.name === 'sign-in' && plugin.passwords !== false)

/**
 * Warns when a loopback issuer names another port than the one the server listens on. Behind a proxy, clients connect to
 * the port of the proxy.
 */
function portWarning(
  { trustedProxies }: Pick<CheckedConfiguration, 'trustedProxies'>,
  { issuer }: Pick<Provider, 'issuer'>,
  listening: number,
): readonly ServerWarning[] {
  const port = localPort(issuer)
  if (trustedProxies > 0 || port === undefined || port === listening) return []
  const message = `The issuer names port ${port}, but the server listens on ${listening}: clients will connect to the wrong port. If a proxy listens on port ${port}, set trustedProxies`
  return [{ reason: 'issuer_port_mismatch', message }]
}

/** Whether users would have passkeys for an IP address, which browsers refuse. The pages then do not offer them. */
export const hasPasskeysAtAddress = (
  { plugins = [] }: Pick<CheckedConfiguration, 'plugins'>,
  { issuer }: Pick<Provider, 'issuer'>,
): boolean =>
  isAddress(issuer) &&
  plugins.some((plugin) => isNamedPlugin(plugin) && plugin.name === 'sign-in' && plugin.passkeys === true)

/** Returns the warnings about the configuration of a server that listens on a port. */
export function startupWarnings(
  configuration: CheckedConfiguration,
  provider: Pick<Provider, 'issuer' | 'metadata'>,
  port: number,
): readonly ServerWarning[] {
  const described = provider.metadata.authorization_endpoint === undefined ? (configuration.plugins ?? []) : []
  const unable = [
    ...clientsWithoutSignIn(configuration, provider),
    ...described.filter(describesClients).map(({ name }) => `the clients of ${name}`),
  ]
  return [
    ...portWarning(configuration, provider, port),
    ...(unable.length === 0
      ? []
      : [
          {
            reason: 'sign_in_missing',
            message: `No page signs users in, so ${unable.join(', ')} cannot get a code: add { "name": "sign-in" } to plugins, or set authorizationEndpoint to the URL of your login page`,
          },
        ]),
    ...(hasPasskeysAtAddress(configuration, provider)
      ? [
          {
            reason: 'passkeys_at_address',
            message:
              'Browsers refuse passkeys of an IP address, so the pages do not offer them: use an issuer with a host name, such as http://localhost:8484, or remove passkeys from the plugin sign-in',
          },
        ]
      : []),
    ...(hasNoUsers(configuration)
      ? [
          {
            reason: 'users_missing',
            message:
              'The plugin sign-in has no users, so no password is accepted: add users, with passwords from grantry hash-password',
          },
        ]
      : []),
  ]
}
