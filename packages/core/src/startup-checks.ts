import type { Client } from './directory/client.ts'
import type { ClientDirectory } from './directory/clients.ts'
import { endpointNames } from './endpoints/built-in.ts'
import { allowsRefreshToken } from './grants/scope-policy.ts'
import type { KeyRing } from './keys/key-ring.ts'
import { isUnencrypted } from './options.ts'
import { assertFormats } from './registry/formats.ts'
import type { Registry } from './registry/registry.ts'
import type { Services } from './services.ts'
import { isProtocolClaim } from './tokens/claims.ts'

const list = (names: Iterable<string>): string => [...names].join(', ')

const settles = (registry: Registry, grantType: string, demand: string): boolean =>
  registry.checksOf(grantType).some(({ part }) => part.settles === demand)

/** Rejects a client that may redeem stored grants of a kind but could never do so. */
function assertStoredGrants(clients: ClientDirectory, registry: Registry): void {
  for (const client of clients.all.filter(({ enabled }) => enabled)) {
    const { clientId, grantTypes, redirectUris } = client
    for (const { grantType, stored } of grantTypes.flatMap((name) => registry.grants.get(name) ?? [])) {
      if (stored === undefined || stored.kind === 'refresh') continue
      if (stored.redirect === true && redirectUris.length === 0) {
        throw new TypeError(
          `clients: ${clientId} uses ${grantType} but has no redirectUris, so it cannot get a code; add a redirect URI`,
        )
      }
      const required = registry.requiredDemands(stored.kind, client)
      const unsettled = required.find((demand) => !settles(registry, grantType, demand))
      if (unsettled !== undefined) {
        throw new TypeError(
          `clients: ${clientId} cannot use ${grantType}, because it requires ${unsettled}, which no plugin checks; add the plugin that does`,
        )
      }
    }
  }
}

/** Rejects a client that no authentication method accepts. */
function assertCanAuthenticate(client: Client, clients: ClientDirectory, registry: Registry): void {
  const hasSecret = clients.secretVerifierOf(client) !== undefined || clients.secretsOf(client).stored.length > 0
  const methods = registry.authenticationMethods.map(({ part }) => part)
  const { clientId, tokenEndpointAuthMethod: only } = client
  const usable = methods.filter(({ accepts }) =>
    accepts === undefined ? hasSecret && !client.public : accepts(client),
  )
  if (only !== undefined) {
    if (usable.some(({ method }) => method === only)) return
    const known = methods.some(({ method }) => method === only)
    throw new TypeError(
      `clients: ${clientId} has tokenEndpointAuthMethod ${only}, ${known ? 'but is not configured for it' : `which no plugin provides; known methods: ${list(methods.map(({ method }) => method))}`}`,
    )
  }
  if (usable.length > 0) return
  const others = methods.filter(({ accepts, implicit }) => accepts !== undefined && !implicit)
  const orElse = others.length === 0 ? '' : `, or configure it for ${others.map(({ method }) => method).join(' or ')}`
  throw new TypeError(`clients: ${clientId} has no usable secret; add one, or set public: true${orElse}`)
}

/**
 * Checks that the options are consistent with each other.
 *
 * @throws TypeError with one sentence that says where the mistake is and how to fix it.
 */
export function assertConsistent({
  clients,
  scopes,
  users,
  registry,
}: Pick<Services, 'clients' | 'scopes' | 'users' | 'registry'>): void {
  for (const client of clients.all) {
    for (const grantType of client.grantTypes) {
      const grant = registry.grants.get(grantType)
      if (grant === undefined) {
        throw new TypeError(
          `clients: ${client.clientId} uses the grant type ${grantType}, which no plugin provides; ${registry.grants.size === 0 ? 'plugins is empty' : `known grant types: ${list(registry.grants.keys())}`}`,
        )
      }
      if (client.public && grant.publicClients !== true) {
        throw new TypeError(
          `clients: ${client.clientId} is public but uses ${grantType}, which requires a client with a secret`,
        )
      }
    }
    for (const scope of client.scopes) {
      if (scopes.find(scope) === undefined) {
        throw new TypeError(`clients: ${client.clientId} has the scope ${scope}, which is not declared in scopes`)
      }
    }
    if (client.enabled && client.grantTypes.length > 0) assertCanAuthenticate(client, clients, registry)
  }
  assertStoredGrants(clients, registry)
  assertFormats(registry.formats, [...endpointNames, ...registry.endpoints.map(({ part }) => part.name)])
  for (const scope of scopes.all) {
    const reserved = scope.claims.find((claim) => isProtocolClaim(claim) && !(scope.identity && claim === 'sub'))
    if (reserved !== undefined) {
      throw new TypeError(
        `scopes: ${scope.name} has the claim ${reserved}, which is reserved for the protocol; remove it`,
      )
    }
  }
  for (const grant of registry.grants.values()) {
    if (grant.requires?.includes('users.authenticate') && users.authenticate === undefined) {
      throw new TypeError(`users: the grant type ${grant.grantType} requires authenticate()`)
    }
  }
}

/**
 * Checks that a key exists for the `identityTokenAlgorithm` of every client. Without one, its first login would fail.
 *
 * @throws TypeError with one sentence that says where the mistake is and how to fix it.
 */
export function assertSignable(clients: ClientDirectory, keys: Pick<KeyRing, 'algorithms'>): void {
  for (const { clientId, identityTokenAlgorithm: algorithm } of clients.all) {
    if (algorithm === undefined || keys.algorithms.includes(algorithm)) continue
    throw new TypeError(
      `clients: ${clientId} has identityTokenAlgorithm ${algorithm}, but no key uses it; add ${algorithm} to the algorithms of keys`,
    )
  }
}

/** One sentence for each client setting that is allowed but cannot work. */
function clientWarnings(clients: ClientDirectory, registry: Registry): readonly string[] {
  const redeemer = registry.redeemerOf('refresh')?.grantType
  return clients.all.flatMap(({ clientId, grantTypes, scopes }) => {
    if (!allowsRefreshToken(scopes) || (redeemer !== undefined && grantTypes.includes(redeemer))) return []
    const why = redeemer === undefined ? 'no plugin redeems refresh tokens' : `not the grant type ${redeemer}`
    return [`${clientId} has the scope offline_access but ${why}, so it gets no refresh tokens`]
  })
}

/** Records a `startup_warning` event for each setting that works but is unsafe or useless. */
export function recordWarnings(
  { recorder, clients, registry }: Pick<Services, 'recorder' | 'clients' | 'registry'>,
  endpointWarnings: readonly { readonly reason: string; readonly message: string }[],
): void {
  const startup = recorder.start()
  for (const { reason, message } of endpointWarnings) {
    recorder.record(startup, { type: 'startup_warning', reason, message })
  }
  for (const message of clientWarnings(clients, registry)) {
    recorder.record(startup, { type: 'startup_warning', reason: 'client_cannot_succeed', message })
  }
  for (const { grantType, stored } of registry.grants.values()) {
    const demand = stored?.publicClientsNeed
    if (demand === undefined || settles(registry, grantType, demand)) continue
    recorder.record(startup, {
      type: 'startup_warning',
      reason: `${demand}_unsupported`,
      message: `No plugin checks ${demand}, so a stolen credential of ${grantType} can be redeemed, and public clients cannot use it. Add the plugin that does (RFC 9700 section 2.1.1)`,
    })
  }
  for (const { clientId, redirectUris } of clients.all) {
    for (const uri of redirectUris.filter(isUnencrypted)) {
      recorder.record(startup, {
        type: 'startup_warning',
        reason: 'redirect_without_tls',
        message: `${clientId} has the redirect URI ${uri}, so an attacker on the network can read its codes; use https (RFC 9700 section 2.6)`,
      })
    }
  }
}
