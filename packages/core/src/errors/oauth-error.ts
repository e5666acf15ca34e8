import type { OAuthErrorCode } from './error-codes.ts'

export interface OAuthErrorOptions {
  /**
   * A stable code for events, logs and tests; never sent to the caller. Operators set alerts on it, so do not rename it.
   */
  readonly reason: string
  readonly cause?: unknown
  /**
   * What was wrong, for events only: the message of the schema that a parameter does not match, or what a client sent and
   * what it has registered. It must not contain a secret: see `redirectUriDetail()`.
   */
  readonly detail?: string | undefined
  /** The id of the client that a request without authentication is for, once it was found; for events only. */
  readonly clientId?: string | undefined
  /** Overrides the HTTP status. By default, the table in `error-codes.ts` determines it. */
  readonly status?: 404 | 405 | 406 | 409 | 412 | 413 | 414 | 415 | 422 | 428 | 429 | undefined
  /** The value of `Retry-After`, in seconds. */
  readonly retryAfter?: number | undefined
  /** The host port that failed, such as `users.authenticate`; for events only. */
  readonly port?: string | undefined
  /**
   * The `detail` of a problem (RFC 9457), instead of the description. It can repeat what the caller has sent, so
   * events do not contain it.
   */
  readonly explanation?: string | undefined
  /** The path of the wrong member of a JSON body, such as `redirectUris[0]`, for endpoints whose errors are problems. */
  readonly member?: string | undefined
  /** The value of `Allow`, for status 405. */
  readonly allow?: string | undefined
  /** The `scope` attribute of a bearer challenge. */
  readonly scope?: string | undefined
  /** More headers of the response. Their names must be in `exposedHeaders` of an installed token binding. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** More members of the body, for the client: lower-case names, and texts or whole numbers. */
  readonly members?: Readonly<Record<string, string | number>> | undefined
  /** Set it if the request has no credentials: the challenge then contains no error (RFC 6750 section 3.1). */
  readonly withoutCredentials?: true | undefined
}

const brand = Symbol.for('grantry.OAuthError')

/**
 * An error with a public part (`code` and description, sent to the caller) and a private part (`details`, for events).
 * The host throws it in its functions. A plugin throws what `kit.refuse` returns.
 *
 * @example
 * throw new OAuthError('access_denied', 'The building is closed', { reason: 'building_closed' })
 * @see RFC 6749 section 5.2
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly [brand] = true
  readonly code: OAuthErrorCode
  readonly details: OAuthErrorOptions

  /**
   * @param description sent to the caller. It must not contain a secret or a token, or reveal which of several checks
   * failed.
   * @throws TypeError without a reason, which authors of JavaScript may forget.
   */
  constructor(code: OAuthErrorCode, description: string, details: OAuthErrorOptions) {
    if (typeof details?.reason !== 'string') {
      throw new TypeError(
        `new OAuthError('${code}', ...) requires a third argument with a reason: { reason: 'building_closed' }`,
      )
    }
    super(description, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.details = details
  }
}

/**
 * Whether a value is an `OAuthError`. Checks a brand, not `instanceof`: a plugin may have loaded a second copy of this
 * package.
 */
export function isOAuthError(thrown: unknown): thrown is OAuthError {
  return thrown instanceof Error && brand in thrown
}

/**
 * Creates the error for a caller that must wait. `slow_down` (RFC 8628 section 3.5) is the closest registered code.
 * `invalid_grant`, `invalid_client` or `invalid_token` would make a caller discard valid credentials.
 *
 * @param retryAfter seconds
 */
export const tooManyFailures = (retryAfter: number): OAuthError =>
  new OAuthError('slow_down', 'Too many failed attempts, try again later', {
    reason: 'too_many_failures',
    status: 429,
    retryAfter: Math.max(1, Math.ceil(retryAfter)),
  })

/** The reason of an `OAuthError`; `unhandled_failure` for any other thrown value. */
export const reasonOf = (thrown: unknown): string =>
  // Errors from plugins are not trusted: the reason can have any type.
  isOAuthError(thrown) && typeof thrown.details?.reason === 'string' ? thrown.details.reason : 'unhandled_failure'

const reasonForm = /^[a-z][a-z\d_]{0,49}$/u

/** Whether a value has the form of a reason: one word, so that it contains nothing of a request. */
export const isReason = (reason: unknown): reason is string => typeof reason === 'string' && reasonForm.test(reason)

/**
 * Returns a reason of a plugin as events contain it.
 *
 * @throws TypeError (a defect in the plugin) for text that is not a reason. The message does not repeat it: it could be a
 * secret.
 */
export function reasonOfPlugin(plugin: string, reason: string): string {
  if (isReason(reason)) return `plugin:${plugin}:${reason}`
  throw new TypeError(
    `A reason of the plugin ${plugin} must be at most 50 lower-case letters, digits and _, without the name of the plugin`,
  )
}

/** What a refusal has besides its reason. */
export type RefusalFacts = Omit<OAuthErrorOptions, 'reason'>

/**
 * Creates the error with which a plugin refuses a request.
 *
 * @param description sent to the caller. It must not contain a secret or a token, or reveal which of several checks
 * failed.
 * @param reason a stable code for events, of lower-case letters, digits and `_`. Events contain it after `plugin:` and the
 * name of the plugin. Operators set alerts on it, so do not rename it.
 * @throws TypeError for another reason: it could contain what the caller has sent.
 */
export type Refuse = (code: OAuthErrorCode, description: string, reason: string, facts?: RefusalFacts) => OAuthError

/** Creates `refuse` of the kits of a plugin. */
export const createRefuse =
  (plugin: string): Refuse =>
  (code, description, reason, facts) =>
    new OAuthError(code, description, { ...facts, reason: reasonOfPlugin(plugin, reason) })
