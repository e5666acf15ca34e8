import type { JWTPayload } from 'jose'

/**
 * Seconds by which the clocks of two processes can differ. The record of a single use expires by the clock of the
 * process that has written it. Without this margin, a process whose clock is behind would accept a second use.
 */
export const clockSkew = 60

/** Also bounds the key of the record that remembers a JWT. */
const maxIdLength = 256

/** The rules for the claims of a JWT, besides those that jose checks. All times are in seconds. */
export interface ClaimRules {
  /** The values of `aud` that name this provider. */
  readonly audience: readonly string[]
  readonly now: number
  /** From `now` to the latest `exp`: how long the id of a JWT must be remembered. */
  readonly maxLifetime: number
  readonly clockTolerance: number
}

/** Returns the reason for events why a verified JWT is refused; `undefined` if it is not. */
export function claimsProblem(
  { aud, exp = 0, iat, jti }: JWTPayload,
  { audience, now, maxLifetime, clockTolerance }: ClaimRules,
): string | undefined {
  const audiences = [aud ?? []].flat()
  // Every audience: one of several servers could forward the JWT to another.
  if (audiences.length === 0 || !audiences.every((value) => audience.includes(value))) return 'aud_invalid'
  if (exp > now + maxLifetime + clockTolerance) return 'exp_too_late'
  if (iat !== undefined && iat > now + clockTolerance) return 'iat_invalid'
  if (jti === undefined) return undefined
  return typeof jti === 'string' && jti !== '' && jti.length <= maxIdLength ? undefined : 'jti_invalid'
}

/** The rules for the claims of a JWT about a user or a workload. */
interface AssertionRules extends ClaimRules {
  readonly maxSubjectLength: number
}

/** Returns the reason of `claimsProblem`, or one about `sub` or a JWT that is older than `maxLifetime`. */
export function assertionProblem(payload: JWTPayload, rules: AssertionRules): string | undefined {
  const { sub, iat } = payload
  const { now, maxLifetime, clockTolerance, maxSubjectLength } = rules
  const problem = claimsProblem(payload, rules)
  if (problem !== undefined) return problem
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength) return 'sub_invalid'
  return iat !== undefined && iat < now - maxLifetime - clockTolerance ? 'iat_too_early' : undefined
}

/** The id under which a JWT can be used once, and until when (epoch seconds) a second use must be refused. */
export const singleUseOf = (issuer: string, jti: string, exp: number, clockTolerance: number) => ({
  id: JSON.stringify([issuer, jti]),
  expiresAt: Math.ceil(exp + clockTolerance) + clockSkew,
})
