import type { JsonObject } from '../json.ts'

/**
 * The `sub` of the user whom the claims of an access token are about; `undefined` for the token of a client alone. The latter may have a `sub` too, the
 * client id (RFC 9068 section 2.2), and a user may have the same one: only the tokens of users say when the user signed in.
 */
export const userIn = ({ sub, client_id, auth_time }: JsonObject): string | undefined =>
  typeof sub !== 'string' || (auth_time === undefined && sub === client_id) ? undefined : sub

/** The claims as code reads them that takes "has a `sub`" for "is a user": those of a client alone have none. */
export function withUserOnly(claims: JsonObject): JsonObject {
  if (claims.sub === undefined || userIn(claims) !== undefined) return claims
  const { sub: _client, ...rest } = claims
  return rest
}
