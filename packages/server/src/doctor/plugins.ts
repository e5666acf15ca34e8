import type { Client } from '@grantry/core'
import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { localPort } from '../local-address.ts'
import type { Check, Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { checkIdJag } from './id-jag.ts'
import { checkOrganizations } from './organizations.ts'
import { checkRegistration } from './registration.ts'
import { checkUpstreams } from './upstream.ts'
import { checkWorkloads } from './workloads.ts'

/** Seconds by which the clock of a client may be ahead, in FAPI 2.0. */
const usualTolerance = 10

/** Whether all keys are in a key management service, which signs but does not seal. */
const areExternal = (keys: CheckedConfiguration['keys']): boolean =>
  Array.isArray(keys) && keys.every((key: { readonly d?: unknown } | null) => key?.d === undefined)

function checkDpop(
  { nonce, clockTolerance = usualTolerance }: Extract<NamedPlugin, { readonly name: 'dpop' }>,
  path: string,
  keys: CheckedConfiguration['keys'],
): readonly Finding[] {
  if (nonce === true) {
    if (!areExternal(keys)) return []
    const reason = 'Nonces are sealed with a private key, but all keys are external: each proof gets a server error'
    return [finding('dpop-nonce-unsealed', `${path}.nonce`, reason)]
  }
  if (clockTolerance >= usualTolerance) return []
  const reason = `The proofs of a client whose clock is more than ${clockTolerance} s ahead are refused`
  return [finding('dpop-clock-strict', `${path}.clockTolerance`, reason)]
}

function checkDocuments(
  { scopes, otherHosts, hosts = [], allowPrivateAddresses }: Extract<NamedPlugin, { readonly name: 'client-metadata' }>,
  path: string,
  { configuration: { administration }, metadata }: Facts,
): readonly Finding[] {
  const known = metadata.scopes_supported
  // Those in the storage can come later.
  const unknown = administration ? [] : scopes.filter((name) => Array.isArray(known) && !known.includes(name))
  const remembered = 'Users are asked once about clients of any host, which describe themselves as they like'
  const internal = 'The id of a client makes this server send requests to addresses of its own network'
  const isAny =
    otherHosts === 'allow' || hosts.some(({ host, policy }) => policy === 'allow' && /^\*\.[^.]+$/u.test(host))
  return [
    ...unknown.map((name) =>
      finding('document-scope-unknown', `${path}.scopes`, `The scope ${name} is not declared, so no client gets it`),
    ),
    ...(isAny ? [finding('documents-of-any-host', `${path}.otherHosts`, remembered)] : []),
    ...(allowPrivateAddresses ? [finding('document-url-private', `${path}.allowPrivateAddresses`, internal)] : []),
  ]
}

function checkPlugin(plugin: NamedPlugin, path: string, facts: Facts): readonly Finding[] {
  const { keys } = facts.configuration
  if (plugin.name === 'dpop') return checkDpop(plugin, path, keys)
  if (plugin.name === 'device-authorization') {
    const { verificationUri } = plugin
    if (
      verificationUri === undefined ||
      verificationUri.startsWith('https:') ||
      localPort(verificationUri) !== undefined
    )
      return []
    return [
      finding(
        'verification-uri-without-tls',
        `${path}.verificationUri`,
        `${verificationUri} is not https: an attacker on the network can show a page that asks for the password`,
      ),
    ]
  }
  if (plugin.name === 'sign-in') {
    const reason =
      'The backchannelLogoutUri of a client makes this server send requests to addresses of its own network'
    const isPrivate = plugin.backChannelLogout?.allowPrivateAddresses === true
    return [
      ...(isPrivate ? [finding('logout-uri-private', `${path}.backChannelLogout.allowPrivateAddresses`, reason)] : []),
      ...checkUpstreams(plugin, path, facts),
      ...checkOrganizations(plugin, path, facts),
    ]
  }
  if (plugin.name === 'id-jag') return checkIdJag(plugin, path, facts)
  if (plugin.name === 'client-metadata') return checkDocuments(plugin, path, facts)
  if (plugin.name === 'workload-identity') return checkWorkloads(plugin, path, facts)
  if (plugin.name === 'registration') return checkRegistration(plugin, path, facts)
  if (plugin.name !== 'client-assertion') return []
  return [
    ...(plugin.jwksUri?.allowPrivateAddresses === true
      ? [
          finding(
            'jwks-uri-private',
            `${path}.jwksUri.allowPrivateAddresses`,
            'The jwksUri of a client makes this server send requests to addresses of its own network',
          ),
        ]
      : []),
  ]
}

const urn = 'urn:ietf:params:oauth:grant-type:'

const fapi2Algorithms: readonly (string | undefined)[] = ['PS256', 'ES256', 'EdDSA']

/** Checks what the profile demands of the whole provider. The plugin itself checks the clients. */
function checkFapi2(
  { clients: applies = 'marked' }: Extract<NamedPlugin, { readonly name: 'fapi2' }>,
  path: string,
  { clients, hasExternalClients, signingAlgorithms }: Facts,
): readonly Finding[] {
  const affected = clients.filter(({ profile }) => applies === 'all' || profile === 'fapi2')
  if (affected.length === 0 && !hasExternalClients) {
    return [finding('fapi-unused', path, 'No client has the profile, so nothing is checked')]
  }
  const [first] = signingAlgorithms
  // A token exchange can return a JWT to a client with reference tokens.
  const getsJwt = ({ accessTokenFormat, grantTypes }: Client): boolean =>
    accessTokenFormat === 'jwt' || grantTypes.includes(`${urn}token-exchange`)
  if (fapi2Algorithms.includes(first) || !(hasExternalClients || affected.some(getsJwt))) return []
  const reason = `Access tokens are signed with ${first}, which the profile does not allow`
  return [finding('fapi-signing-algorithm', 'keys', reason)]
}

const usesPasswordGrant = ({ enabled, grantTypes }: Client): boolean => enabled && grantTypes.includes('password')

/** Checks the plugins that the configuration names, with their options, and what plugins warn about. */
export const checkPlugins: Check = (facts) => [
  ...facts.warnings
    .filter(({ reason }) => reason === 'plugin:authorization-endpoint:password_without_second_factor')
    // The server always has the grant: only a client that can use it matters.
    .filter(() => facts.hasExternalClients || [...facts.clients, ...facts.storedClients].some(usesPasswordGrant))
    .map(({ message }) => finding('second-factor-skipped', 'plugins', message)),
  ...facts.unreachable.map(({ where, reason }) => finding('upstream-unreachable', where, reason)),
  ...checkNamedPlugins(facts),
]

const checkNamedPlugins: Check = (facts) =>
  (facts.configuration.plugins ?? []).flatMap((plugin, index) => {
    const { scopes } = facts
    if (!isNamedPlugin(plugin)) return []
    const path = `plugins[${index}]`
    if (plugin.name === 'fapi2') return checkFapi2(plugin, path, facts)
    if (plugin.name !== 'resource-indicators') return checkPlugin(plugin, path, facts)
    if (scopes.some(({ identity, audience }) => !identity && audience !== undefined)) return []
    return [
      finding('resource-unknown', path, 'No scope has an audience, so every resource that a client names is refused'),
    ]
  })

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

/**
 * Explains why the server refuses a configuration: a client uses a plugin that is missing, or is incomplete for it.
 * Reads the configuration as it is written, because the server does not start with it.
 */
export function explainClients({ clients, plugins = [] }: CheckedConfiguration): readonly Finding[] {
  if (!Array.isArray(clients)) return []
  const named: readonly string[] = plugins.filter(isNamedPlugin).map(({ name }) => name)
  // A module can contain any plugin.
  const areKnown = plugins.every(isNamedPlugin)
  return clients.flatMap((client: WrittenClient | null, index) => {
    if (typeof client !== 'object' || client === null) return []
    const path = `clients[${index}]`
    const missing = usesOf(client, path).flatMap(([use, where]) => {
      const some = typeof use === 'string' && Object.hasOwn(providers, use) ? [providers[use] ?? []].flat() : []
      if (some.length === 0 || some.some((plugin) => named.includes(plugin)) || !areKnown) return []
      return [finding('plugin-missing', where, `${use} needs the plugin ${some.join(' or ')}, which is not in plugins`)]
    })
    const { tokenEndpointAuthMethod: method, jwks, jwksUri } = client
    const needsKeys = method === 'private_key_jwt' || method === 'self_signed_tls_client_auth'
    if (!needsKeys || jwks !== undefined || jwksUri !== undefined) return missing
    const reason = `The client authenticates with ${method}, but has neither jwks nor jwksUri`
    return [...missing, finding('client-without-keys', `${path}.tokenEndpointAuthMethod`, reason)]
  })
}
