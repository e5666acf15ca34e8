import { OAuthError } from '../errors/oauth-error.ts'

/**
 * The refusal of whoever must wait. `slow_down` is the registered error (RFC 8628 section 3.5) that comes nearest; never `invalid_grant`, `invalid_client` or
 * `invalid_token`, which tell a caller to throw away what is good.
 *
 * @param retryAfter seconds
 */
export const tooMany = (retryAfter: number): OAuthError =>
  new OAuthError('slow_down', 'Too many failed attempts, try again later', {
    reason: 'too_many_failures',
    status: 429,
    retryAfter: Math.max(1, Math.ceil(retryAfter)),
  })
