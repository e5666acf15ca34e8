import type { ClientDirectory } from './directory/clients.ts'
import type { ScopeDirectory } from './directory/scopes.ts'
import type { UserService } from './directory/user-service.ts'
import type { Recorder } from './events/trace.ts'
import { isUnencrypted } from './http/loopback.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { CheckedOptions } from './options.ts'
import type { Registry } from './plugin/registry.ts'
import { isProtocolClaim } from './tokens/protocol-claims.ts'

const list = (names: Iterable<string>): string => [...names].join(', ')

const settlesProofKey = (registry: Registry): boolean =>
  registry.checksOf('authorization_code').some(({ settles }) => settles === 'proof_key')

/** A client that may use codes and could never redeem one. */
function assertCodeClients(clients: ClientDirectory, registry: Registry): void {
  for (const { clientId, enabled, public: isPublic, grantTypes, redirectUris } of clients.all) {
    if (!enabled || !grantTypes.includes('authorization_code')) continue
    if (redirectUris.length === 0) {
      throw new TypeError(
        `clients: ${clientId} may use authorization_code and has no redirectUris, so no code can be made for it; add one`,
      )
    }
    if (isPublic && !settlesProofKey(registry)) {
      throw new TypeError(
        `clients: ${clientId} is public and can redeem no code, because no plugin checks its code_verifier; add proofKey() to the plugins`,
      )
    }
  }
}

/**
 * What two parts of the options must agree on.
 *
 * @throws TypeError with one sentence that says where and what to do.
 */
export function assertConsistent(parts: {
  readonly clients: ClientDirectory
  readonly scopes: ScopeDirectory
  readonly users: UserService
  readonly registry: Registry
}): void {
  const { clients, scopes, users, registry } = parts
  for (const client of clients.all) {
    for (const grantType of client.grantTypes) {
      const grant = registry.grants.get(grantType)
      if (grant === undefined) {
        throw new TypeError(
          `clients: ${client.clientId} may use the grant type ${grantType}, which no plugin brings; ${registry.grants.size === 0 ? 'there are no plugins' : `known are ${list(registry.grants.keys())}`}`,
        )
      }
      if (client.public && grant.publicClients !== true) {
        throw new TypeError(
          `clients: ${client.clientId} is public and may use ${grantType}, which needs a client with a secret`,
        )
      }
    }
    for (const scope of client.scopes) {
      if (scopes.find(scope) === undefined) {
        throw new TypeError(
          `clients: ${client.clientId} may ask for the scope ${scope}, which is not declared in scopes`,
        )
      }
    }
    if (
      client.enabled &&
      !client.public &&
      client.grantTypes.length > 0 &&
      client.secrets.stored.length === 0 &&
      clients.verifySecret === undefined
    ) {
      throw new TypeError(`clients: ${client.clientId} has no usable secret; give it one, or say public: true`)
    }
  }
  assertCodeClients(clients, registry)
  for (const scope of scopes.all) {
    const reserved = scope.claims.find((claim) => isProtocolClaim(claim) && !(scope.identity && claim === 'sub'))
    if (reserved !== undefined) {
      throw new TypeError(`scopes: ${scope.name} asks for the claim ${reserved}, which belongs to the protocol`)
    }
  }
  for (const grant of registry.grants.values()) {
    if (grant.requires?.includes('users.authenticate') && users.authenticate === undefined) {
      throw new TypeError(`users: the grant type ${grant.grantType} needs users with authenticate()`)
    }
  }
}

/**
 * A client that is told what it cannot have would fail at its first login.
 *
 * @throws TypeError with one sentence that says where and what to do.
 */
export function assertSignable(clients: ClientDirectory, keys: Pick<KeyRing, 'algorithms'>): void {
  for (const { clientId, identityTokenAlgorithm: algorithm } of clients.all) {
    if (algorithm === undefined || keys.algorithms.includes(algorithm)) continue
    throw new TypeError(
      `clients: ${clientId} has identityTokenAlgorithm ${algorithm}, and no key signs by it; add ${algorithm} to the algorithms of keys`,
    )
  }
}

/** Whether something is counted in the storage. */
export const needsCounter = ({
  abuseControl: { credentials, validation },
}: Pick<CheckedOptions, 'abuseControl'>): boolean => credentials !== false || validation !== false

/**
 * Whether the storage can count what is to be counted.
 *
 * @throws TypeError with one sentence that says what to do.
 */
export function assertCounter({ storage, abuseControl }: CheckedOptions): void {
  if (!needsCounter({ abuseControl })) return
  if (typeof storage.incrementItem === 'function') return
  throw new TypeError(
    `storage: ${storage.name ?? 'the given driver'} has no incrementItem(), which abuseControl counts with; take a driver that has one, or say abuseControl: false (failed passwords are limited all the same)`,
  )
}

/** What is allowed and cannot work: each a sentence for the operator. */
function clientWarnings(clients: ClientDirectory): readonly string[] {
  return clients.all.flatMap(({ clientId, grantTypes, scopes }) =>
    scopes.includes('offline_access') && !grantTypes.includes('refresh_token')
      ? [`${clientId} may ask for offline_access and may not use refresh_token: its refresh tokens are of no use`]
      : [],
  )
}

/** Tells the observer, once at start, what works and should not stay as it is. */
export function recordWarnings(
  parts: {
    readonly recorder: Recorder
    readonly clients: ClientDirectory
    readonly registry: Registry
  },
  answersAnybody: boolean,
): void {
  const { recorder, clients, registry } = parts
  const startup = recorder.start()
  if (answersAnybody) {
    recorder.record(startup, {
      type: 'startup_warning',
      reason: 'anonymous_access_token_validation',
      message:
        'The access token validation endpoint answers anybody. Prefer introspection, and switch it off with endpoints: { accessTokenValidation: false }',
    })
  }
  for (const message of clientWarnings(clients)) {
    recorder.record(startup, { type: 'startup_warning', reason: 'client_cannot_succeed', message })
  }
  if (registry.grants.has('authorization_code') && !settlesProofKey(registry)) {
    recorder.record(startup, {
      type: 'startup_warning',
      reason: 'proof_key_unsupported',
      message:
        'No plugin checks a code_verifier, so a stolen code can be redeemed, and public clients cannot use codes. Add proofKey() to the plugins (RFC 9700 section 2.1.1)',
    })
  }
  for (const { clientId, redirectUris } of clients.all) {
    for (const uri of redirectUris.filter(isUnencrypted)) {
      recorder.record(startup, {
        type: 'startup_warning',
        reason: 'redirect_without_tls',
        message: `${clientId} has the redirect URI ${uri}: anybody on the network can read the codes that are sent there; use https (RFC 9700 section 2.6)`,
      })
    }
  }
}
