import * as v from 'valibot'
import type { RequestedClaims } from '../directory/user-claims.ts'

// OpenID Connect defines 20 claims of a user. Each name of `userinfo` is in the access tokens.
const namesSchema = v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(100))), v.maxLength(50))

/** The names come from a browser, so they are limited. */
export const requestedClaimsSchema = v.strictObject({
  userinfo: v.optional(namesSchema),
  identityToken: v.optional(namesSchema),
})

/** Returns the members that the record of a grant has: those with a name, each name once. */
export function recordedClaims(requested: RequestedClaims | undefined): { readonly requestedClaims?: RequestedClaims } {
  const [userinfo, identityToken] = [requested?.userinfo, requested?.identityToken].map((names = []) => [
    ...new Set(names),
  ]) as [string[], string[]]
  if (userinfo.length === 0 && identityToken.length === 0) return {}
  return {
    requestedClaims: { ...(userinfo.length > 0 && { userinfo }), ...(identityToken.length > 0 && { identityToken }) },
  }
}
