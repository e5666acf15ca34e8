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
])

export const isProtocolClaim = (name: string): boolean => protocolClaims.has(name) || name === '__proto__'

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

/** Returns the family of a token, its claim `grant_id`. */
export const familyIn = ({ grant_id: family }: JsonObject): string | undefined =>
  typeof family === 'string' ? family : undefined
