import type { Json } from '../types.ts'
import type { ScopeDirectory } from './scopes.ts'
import type { UserService } from './user-service.ts'

/**
 * Returns the claims of a user that scopes request from the user service. A claim that the user service omits or returns
 * as null is absent.
 *
 * @param of `identity`: the claims of identity scopes, for userinfo; `api`: those of API scopes, for access tokens.
 */
export type UserClaims = (
  sub: string,
  scopes: readonly string[],
  of: 'identity' | 'api',
) => Promise<Record<string, Json>>

export function createUserClaims(scopeDirectory: ScopeDirectory, users: UserService): UserClaims {
  return async (sub, scopes, of) => {
    const names = new Set<string>()
    for (const name of scopes) {
      const scope = scopeDirectory.find(name)
      if (!scope?.enabled || scope.identity !== (of === 'identity')) continue
      for (const claim of scope.claims) names.add(claim)
    }
    // The core knows it.
    names.delete('sub')
    const claims: Record<string, Json> = {}
    if (names.size === 0 || users.claims === undefined) return claims
    const found = (await users.claims(sub, [...names])) ?? {}
    for (const name of names) {
      const value = found[name]
      if (value !== undefined && value !== null) claims[name] = value
    }
    return claims
  }
}
