import { inexactNumber, inexactNumberIn } from '../json.ts'
import type { Json, MaybePromise } from '../types.ts'
import type { Client } from './client.ts'
import type { ScopeDirectory } from './scopes.ts'
import type { UserQuestion, UserService } from './user-service.ts'

/**
 * The names of claims of the user that a request asks for one by one, besides those of its scopes: at most 50 in each
 * list, of at most 100 characters. A claim that the user does not have is left out, and so is one that no identity scope
 * of the client contains: a client cannot get by name what it may not request by scope.
 *
 * @see OpenID Connect Core section 5.5
 */
export interface RequestedClaims {
  readonly userinfo?: readonly string[] | undefined
  readonly identityToken?: readonly string[] | undefined
}

/** Claims that a client requests by their names. */
interface ClaimsByName {
  readonly client: Pick<Client, 'scopes'>
  readonly names: readonly string[]
}

/**
 * Returns the claims of a user that scopes request from the user service. A claim that the user service omits or returns
 * as null is absent. One with a number that JSON does not keep exactly is an error of the host: two users could get the same.
 *
 * @param of `identity`: the claims of identity scopes, for userinfo and identity tokens; `api`: those of API scopes, for
 * access tokens.
 * @param byName more claims. Those that no identity scope of the client contains are ignored.
 * @param question the one whether the user is active, of the same request
 */
export type UserClaims = (
  sub: string,
  scopes: readonly string[],
  of: 'identity' | 'api',
  byName: ClaimsByName | undefined,
  question: UserQuestion | undefined,
) => MaybePromise<Record<string, Json>>

/** `role` is an array, even with only one role (the seed, section 2.5). */
const asList = (value: Json): Json => (Array.isArray(value) ? value : [value])

export function createUserClaims(scopeDirectory: ScopeDirectory, users: UserService): UserClaims {
  function claimsOf(scopes: readonly string[], of: 'identity' | 'api'): Set<string> {
    const names = new Set<string>()
    for (const name of scopes) {
      const scope = scopeDirectory.find(name)
      if (!scope?.enabled || scope.identity !== (of === 'identity')) continue
      for (const claim of scope.claims) names.add(claim)
    }
    return names
  }

  /** Asks the user service. */
  async function read(
    sub: string,
    names: Iterable<string>,
    of: 'identity' | 'api',
    question: UserQuestion | undefined,
  ): Promise<Record<string, Json>> {
    const claims: Record<string, Json> = {}
    const values = (await users.claims?.(sub, [...names], question)) ?? {}
    for (const name of names) {
      const value = values[name]
      if (value !== undefined && value !== null) claims[name] = value
    }
    const inexact = inexactNumberIn(claims)
    if (inexact !== undefined) throw new TypeError(`users.claims: ${inexact} ${inexactNumber}`)
    if (of === 'identity' && claims.role !== undefined) claims.role = asList(claims.role)
    return claims
  }

  return (sub, scopes, of, byName, question) => {
    const names = claimsOf(scopes, of)
    if (byName !== undefined) {
      const allowed = claimsOf(byName.client.scopes, of)
      for (const name of byName.names) if (allowed.has(name)) names.add(name)
    }
    // The core sets `sub` itself.
    names.delete('sub')
    return names.size === 0 || users.claims === undefined ? {} : read(sub, names, of, question)
  }
}
