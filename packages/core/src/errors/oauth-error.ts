/** RFC 6749 section 5.2. */
type TokenErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'

/** RFC 6750 section 3.1. */
type BearerErrorCode = 'invalid_token' | 'insufficient_scope'

/** RFC 8628 section 3.5, RFC 8707 section 2, OpenID Connect Core section 3.1.2.6: for grants that plugins add. */
type ExtensionErrorCode =
  | 'access_denied'
  | 'authorization_pending'
  | 'expired_token'
  | 'slow_down'
  | 'invalid_target'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'

/** RFC 6749 section 4.1.2.1, used here at every endpoint. */
type ServerErrorCode = 'server_error' | 'temporarily_unavailable'

/** Every `error` that this provider puts on the wire. */
export type OAuthErrorCode = TokenErrorCode | BearerErrorCode | ExtensionErrorCode | ServerErrorCode

export interface OAuthErrorOptions {
  /**
   * Why, for events, logs and tests; never on the wire. Stable: operators alert on it. A plugin writes
   * `plugin:<its name>:<its reason>`.
   */
  readonly reason: string
  readonly cause?: unknown
  /** Where HTTP says more than the code does: 404, 405, 413, 414, 415, 429. Otherwise the table of `error-answer.ts` decides. */
  readonly status?: 404 | 405 | 413 | 414 | 415 | 429
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number
  /** The function of the host that failed, such as `users.authenticate`; for events only. */
  readonly port?: string
  /** For `Allow`, with 405. */
  readonly allow?: string
  /** For the `scope` attribute of a bearer challenge. */
  readonly scope?: string
  /** The request brought no credentials at all: the challenge then names no error (RFC 6750 section 3.1). */
  readonly withoutCredentials?: true
}

const brand = Symbol.for('grantry.OAuthError')

/**
 * A refusal: what the caller reads, and beside it what only the operator reads. The one class of this package.
 *
 * @example
 * throw new OAuthError('invalid_grant', 'The badge is not valid', { reason: 'plugin:badge:unknown_badge' })
 * @see RFC 6749 section 5.2
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly [brand] = true
  readonly code: OAuthErrorCode
  readonly details: OAuthErrorOptions

  /** @param description is public: no secret, no token, nothing that tells which of several checks failed. */
  constructor(code: OAuthErrorCode, description: string, details: OAuthErrorOptions) {
    super(description, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.details = details
  }
}

/** By brand, not by `instanceof`: a plugin may have loaded a second copy of this package. */
export function isOAuthError(thrown: unknown): thrown is OAuthError {
  return thrown instanceof Error && brand in thrown
}

/** The reason of a refusal, or what stands for anything else that was thrown. */
export const reasonOf = (thrown: unknown): string =>
  // A plugin is foreign code: what it gives as the reason may be anything.
  isOAuthError(thrown) && typeof thrown.details?.reason === 'string' ? thrown.details.reason : 'unhandled_failure'
