import { assertMembers, seconds, texts } from './option-checks.ts'
import type { AuthenticationRequirement } from './user-authentication.ts'

/** The requirements of a request, besides a valid access token. */
export interface Requirement {
  /** The scopes that the token must have, all of them. */
  readonly scopes?: string | readonly string[] | undefined
  /** How the user must have authenticated: the token must have one of these values as `acr`. Default: in any way. */
  readonly acrValues?: string | readonly string[] | undefined
  /** Seconds since the user has authenticated (`auth_time`), at most. Default: any time. */
  readonly maxAge?: number | undefined
}

export interface CheckedRequirement extends AuthenticationRequirement {
  readonly scopes: readonly string[]
}

/** RFC 6749 section 3.3. Contains no character that ends a quoted string in a challenge. */
const nameForm = /^[!#-[\]-~]+$/u

function namesOf(value: unknown, what: string, noun: string): readonly string[] {
  const names = value === undefined ? [] : texts(value, what)
  const wrong = names.find((name) => !nameForm.test(name))
  if (wrong !== undefined) throw new TypeError(`${JSON.stringify(wrong)} is not ${noun}: one name per string`)
  return names
}

/** @throws TypeError with one sentence for a mistake in the scopes */
export const scopesOf = (value: unknown): readonly string[] => namesOf(value, 'scopes', 'a scope')

/**
 * Checks a requirement.
 *
 * @throws TypeError with one sentence for a mistake in it
 */
export function requirementOf(requirement: Requirement): CheckedRequirement {
  assertMembers(requirement, ['scopes', 'acrValues', 'maxAge'], 'The requirement')
  const maxAge =
    requirement.maxAge === undefined ? undefined : seconds(requirement.maxAge, 0, [0, 31_536_000], 'maxAge')
  // RFC 9470 section 3: the parameter of the challenge is an integer.
  if (maxAge !== undefined && !Number.isInteger(maxAge)) throw new TypeError('maxAge must be a whole number of seconds')
  const acrValues = namesOf(requirement.acrValues, 'acrValues', 'an acr value')
  return { scopes: scopesOf(requirement.scopes), acrValues, maxAge }
}

/** Returns the scopes of a token: a string (RFC 9068 section 2.2.3) or, of some issuers, an array. */
export function grantedScopes(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean)
  return Array.isArray(claim) && claim.every((scope) => typeof scope === 'string') ? claim : []
}
