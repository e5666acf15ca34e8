import type { JsonObject } from '../types.ts'

/** Claims that the protocol defines. Plugins, user services and scopes cannot set them. */
const protocolClaims: ReadonlySet<string> = new Set([
  // RFC 7519, RFC 9068, OpenID Connect Core section 2
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'client_id',
  'scope',
  'auth_time',
  'acr',
  'amr',
  'azp',
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  // RFC 7800, RFC 8693, OpenID Connect logout, RFC 7662
  'cnf',
  'act',
  'may_act',
  'sid',
  'active',
  'token_type',
  // Grantry: the identity provider (from the seed), the family, and the epochs
  'idp',
  'grant_id',
  'client_epoch',
  'sub_epoch',
  'withdrawal_epoch',
  'origin_epochs',
  // Grantry: the claims that userinfo returns besides those of the scopes
  'userinfo_claims',
])

export const isProtocolClaim = (name: string): boolean => protocolClaims.has(name) || name === '__proto__'

/**
 * As `isProtocolClaim`, for identity tokens: the core knows no sessions, so a plugin that does sets `sid`. The core sets
 * `txn`, the family.
 */
export const isIdentityProtocolClaim = (name: string): boolean =>
  name === 'txn' || (name !== 'sid' && isProtocolClaim(name))

/** @throws TypeError (a defect in a plugin or the host) when one of the claims is reserved. */
export function assertCustomClaims(claims: JsonObject, isReserved: (name: string) => boolean): void {
  const reserved = Object.keys(claims).find(isReserved)
  if (reserved !== undefined) {
    throw new TypeError(`The claim ${reserved} is reserved for the protocol and cannot be set`)
  }
}

/**
 * Returns the `sub` of the user of an access token; `undefined` for a token without a user. Such a token can have the
 * client id as its `sub` (RFC 9068 section 2.2), which may equal the `sub` of a user, but only tokens with a user have
 * `auth_time`.
 */
export const userSubOf = ({ sub, client_id, auth_time }: JsonObject): string | undefined =>
  typeof sub !== 'string' || (auth_time === undefined && sub === client_id) ? undefined : sub

/** Removes the `sub` of a token without a user, for code that assumes that a `sub` means a user. */
export function withoutClientSub(claims: JsonObject): JsonObject {
  if (claims.sub === undefined || userSubOf(claims) !== undefined) return claims
  const { sub: _client, ...rest } = claims
  return rest
}

const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Returns the family of an access token, its claim `grant_id`. */
export const familyIn = ({ grant_id: family }: JsonObject): string | undefined => textOrNone(family)

/** Returns the family of an identity token, its claim `txn` (RFC 8417 section 2.2). */
export const identityFamilyIn = ({ txn: family }: JsonObject): string | undefined => textOrNone(family)

/** Returns the names of the claims that userinfo returns for a token besides those of its scopes. */
export const userinfoClaimsIn = ({ userinfo_claims: names }: JsonObject): readonly string[] | undefined =>
  Array.isArray(names) ? names.filter((name) => typeof name === 'string') : undefined
