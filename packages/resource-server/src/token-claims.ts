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

/** The values that the claims of a token are compared with. */
export interface ClaimRules {
  readonly issuers: {
    /** `undefined` if there can be many. */
    readonly single: string | undefined
    /** Whether the token is of one of the issuers. */
    fits(claims: Claims): boolean
  }
  readonly audience: readonly string[]
  /** The claim that names the API. */
  readonly audienceClaim: string
  readonly requiredClaims: Readonly<Record<string, string | number | boolean>>
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
    [aud ?? []].flat().every((audience) => typeof audience === 'string')
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
  { issuers, audience, audienceClaim, requiredClaims, clockTolerance, now }: ClaimRules,
): Reason | undefined {
  if (!isWellFormed(claims)) return 'claims_malformed'
  const { iss, exp, nbf } = claims
  const mayLackIssuer = issuers.single !== undefined && !required.includes('iss')
  if (!(iss === undefined && mayLackIssuer) && !issuers.fits(claims)) return 'issuer_mismatch'
  const stated = claims[audienceClaim]
  // An empty list names no API, as if it were absent.
  const named = Array.isArray(stated) && stated.length === 0 ? undefined : stated
  const audiences: readonly unknown[] = Array.isArray(named) ? named : [named]
  // Another claim than `aud` is always required: the API has named it.
  const isRequired = required.includes('aud') || audienceClaim !== 'aud'
  if (
    named === undefined ? isRequired : !audiences.some((claimed) => audience.some((expected) => expected === claimed))
  ) {
    return 'audience_mismatch'
  }
  if (Object.entries(requiredClaims).some(([name, value]) => claims[name] !== value)) return 'claim_mismatch'
  if (exp === undefined && required.includes('exp')) return 'claims_malformed'
  if (exp !== undefined && exp <= now() - clockTolerance) return 'expired'
  return nbf !== undefined && nbf > now() + clockTolerance ? 'not_yet_valid' : undefined
}
