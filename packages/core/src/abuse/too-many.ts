import { OAuthError } from '../errors/oauth-error.ts'

/**
 * Creates the error for a caller that must wait. `slow_down` (RFC 8628 section 3.5) is the closest registered code.
 * `invalid_grant`, `invalid_client` or `invalid_token` would make a caller discard valid credentials.
 *
 * @param retryAfter seconds
 */
export const tooMany = (retryAfter: number): OAuthError =>
  new OAuthError('slow_down', 'Too many failed attempts, try again later', {
    reason: 'too_many_failures',
    status: 429,
    retryAfter: Math.max(1, Math.ceil(retryAfter)),
  })
