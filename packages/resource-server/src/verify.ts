import { isToken } from './authorization-header.ts'
import { isUnbound, type RequiredBinding } from './binding.ts'
import { maxLength } from './credentials.ts'
import type { ValidateToken } from './jwt.ts'
import { isRefused, kindOf, type Reason, type Refused, refused } from './refusal.ts'
import type { Claims } from './token-claims.ts'

/** The error of `verify()`. Its status distinguishes an outage of the issuer from an error of the client. */
export interface VerificationError extends Error {
  /** 401: another token is needed. 503: the same token may be valid later. */
  readonly status: 401 | 503
  readonly code: 'invalid_token' | 'temporarily_unavailable'
  readonly reason: Reason
}

/**
 * Validates a token without its request. One that is bound to a key or certificate is refused: there is no proof of it.
 */
export async function validateAlone(
  token: string,
  validateToken: ValidateToken,
  required: RequiredBinding | undefined,
): Promise<{ readonly claims: Claims } | Refused> {
  if (typeof token !== 'string' || token.length > maxLength || !isToken(token)) return refused('token_malformed')
  const validated = await validateToken(token)
  if (isRefused(validated)) return validated
  if (!isUnbound(validated.claims)) return refused('binding_not_supported')
  return required === undefined ? validated : refused('binding_missing')
}

/** Returns the error for a refusal. Its message can be sent to the client. */
export function verificationError({ reason, cause }: Refused): VerificationError {
  const { status, description } = kindOf(reason)
  const isOutage = status === 503
  return Object.assign(new Error(description, cause === undefined ? undefined : { cause }), {
    status: isOutage ? (503 as const) : (401 as const),
    code: isOutage ? ('temporarily_unavailable' as const) : ('invalid_token' as const),
    reason,
  })
}
