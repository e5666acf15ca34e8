import type { Reason } from './refusal.ts'

/** The claims of an access token (RFC 9068 section 2.2, RFC 7662 section 2.2). */
export interface Claims {
  readonly iss?: string
  readonly sub?: string
  readonly aud?: string | readonly string[]
  /** Epoch seconds. */
  readonly exp?: number
  /** Epoch seconds. */
  readonly nbf?: number
  /** Epoch seconds. */
  readonly iat?: number
  readonly jti?: string
  readonly client_id?: string
  readonly [name: string]: unknown
}

/** What the claims must fulfil. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: readonly string[]
  /** Seconds. */
  readonly clockTolerance: number
  /** Epoch seconds. */
  readonly now: () => number
}

const stringNames = ['iss', 'sub', 'jti', 'client_id'] as const
const timeNames = ['exp', 'nbf', 'iat'] as const

/** Whether the registered claims have the types that {@link Claims} promises. */
function isWellFormed(claims: Readonly<Record<string, unknown>>): claims is Claims {
  const { aud } = claims
  return (
    stringNames.every((name) => claims[name] === undefined || typeof claims[name] === 'string') &&
    timeNames.every((name) => claims[name] === undefined || Number.isFinite(claims[name])) &&
    [aud ?? []].flat().every((one) => typeof one === 'string')
  )
}

/**
 * Checks the claims of both formats (RFC 9068 section 4).
 *
 * @param required the claims that must be present
 */
export function claimsProblem(
  claims: Readonly<Record<string, unknown>>,
  required: readonly string[],
  { issuer, audience, clockTolerance, now }: ClaimRules,
): Reason | undefined {
  if (!isWellFormed(claims)) return 'claims_malformed'
  const { iss, aud, exp, nbf } = claims
  if (iss === undefined ? required.includes('iss') : iss !== issuer) return 'issuer_mismatch'
  const audiences = [aud ?? []].flat()
  if (aud === undefined ? required.includes('aud') : !audiences.some((one) => audience.includes(one))) {
    return 'audience_mismatch'
  }
  if (exp === undefined && required.includes('exp')) return 'claims_malformed'
  if (exp !== undefined && exp <= now() - clockTolerance) return 'expired'
  return nbf !== undefined && nbf > now() + clockTolerance ? 'not_yet_valid' : undefined
}
