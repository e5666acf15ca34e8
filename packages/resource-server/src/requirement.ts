import { assertMembers, texts } from './check.ts'

/** What a request needs, besides a valid access token. */
export interface Requirement {
  /** The scopes that the token must have, all of them. */
  readonly scopes?: string | readonly string[] | undefined
}

/** RFC 6749 section 3.3. */
const scopeForm = /^[!#-[\]-~]+$/u

/**
 * Returns the required scopes.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 */
export function scopesOf(requirement: Requirement): readonly string[] {
  assertMembers(requirement, ['scopes'], 'The requirement')
  const scopes = requirement.scopes === undefined ? [] : texts(requirement.scopes, 'scopes')
  const wrong = scopes.find((scope) => !scopeForm.test(scope))
  if (wrong !== undefined) throw new TypeError(`${JSON.stringify(wrong)} is not a scope: one name per string`)
  return scopes
}

/** Returns the scopes of a token: a string (RFC 9068 section 2.2.3) or, of some issuers, an array. */
export function grantedScopes(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean)
  return Array.isArray(claim) && claim.every((scope) => typeof scope === 'string') ? claim : []
}
