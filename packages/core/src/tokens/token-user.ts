import type { JsonObject } from '../json.ts'

/**
 * Returns the `sub` of the user of an access token; `undefined` for a token without a user. Such a token can have the
 * client id as its `sub` (RFC 9068 section 2.2), which may equal the `sub` of a user, but only tokens with a user have
 * `auth_time`.
 */
export const userIn = ({ sub, client_id, auth_time }: JsonObject): string | undefined =>
  typeof sub !== 'string' || (auth_time === undefined && sub === client_id) ? undefined : sub

/** Removes the `sub` of a token without a user, for code that assumes that a `sub` means a user. */
export function withUserOnly(claims: JsonObject): JsonObject {
  if (claims.sub === undefined || userIn(claims) !== undefined) return claims
  const { sub: _client, ...rest } = claims
  return rest
}
