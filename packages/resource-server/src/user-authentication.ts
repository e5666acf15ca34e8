import type { Reason } from './refusal.ts'
import type { ClaimRules, Claims } from './token-claims.ts'

/** How, and how recently, the user must have authenticated (RFC 9470). */
export interface AuthenticationRequirement {
  /** Accepted values of `acr`. Empty: any. */
  readonly acrValues: readonly string[]
  /** Seconds since `auth_time`. */
  readonly maxAge: number | undefined
}

/** Returns the parameters of the challenge that asks for another authentication (RFC 9470 section 3). */
export const authenticationParams = ({ acrValues, maxAge }: AuthenticationRequirement): Record<string, string> => ({
  ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
  ...(maxAge !== undefined && { max_age: String(maxAge) }),
})

/** Returns why the authentication of the user is not enough. A claim that is missing is never enough. */
export function authenticationProblem(
  { acr, auth_time: time, auth_time_unproved: isUnproved }: Claims,
  { acrValues, maxAge }: AuthenticationRequirement,
  { clockTolerance, now }: ClaimRules,
): Reason | undefined {
  if (acrValues.length > 0 && !acrValues.some((value) => value === acr)) return 'acr_insufficient'
  if (maxAge === undefined) return undefined
  // If the provider of the user has not stated the time, `auth_time` is the time of its response, which proves nothing.
  const age = typeof time === 'number' && isUnproved !== true ? now() - time : Number.NaN
  return age >= -clockTolerance && age <= maxAge + clockTolerance ? undefined : 'authentication_too_old'
}
