/**
 * Who receives an error: the bearer of a token, the caller of a validation endpoint of the core, or any other caller,
 * which authenticates like a client or not at all.
 */
export type ErrorRecipient = 'client' | 'bearer' | 'validation'

export type Statuses = Readonly<Record<ErrorRecipient, number>>

const sameForAll = (status: number): Statuses => ({ client: status, bearer: status, validation: status })

/** The values of `error` that the core knows, with the HTTP status for each recipient. */
export const coreErrors = {
  // RFC 6749 section 5.2.
  invalid_request: sameForAll(400),
  invalid_client: { client: 401, bearer: 401, validation: 400 },
  invalid_grant: sameForAll(400),
  unauthorized_client: sameForAll(400),
  unsupported_grant_type: sameForAll(400),
  invalid_scope: sameForAll(400),
  // RFC 6750 section 3.1. The seed, section 7: the validation endpoints respond with 400 to every refusal.
  invalid_token: { client: 400, bearer: 401, validation: 400 },
  insufficient_scope: { client: 403, bearer: 403, validation: 400 },
  // For custom grants: RFC 8628 section 3.5, RFC 8707 section 2, OpenID Connect Core section 3.1.2.6.
  access_denied: sameForAll(400),
  authorization_pending: sameForAll(400),
  expired_token: sameForAll(400),
  slow_down: sameForAll(400),
  invalid_target: sameForAll(400),
  login_required: sameForAll(400),
  consent_required: sameForAll(400),
  interaction_required: sameForAll(400),
  // RFC 6749 section 4.1.2.1. Every endpoint uses these codes.
  server_error: sameForAll(500),
  temporarily_unavailable: sameForAll(503),
} as const satisfies Readonly<Record<string, Statuses>>

/** A value of `error` that the core knows. */
export type CoreErrorCode = keyof typeof coreErrors

/** Whether an error code is one of the core, which every provider can send. */
export const isCoreError = (code: string): code is CoreErrorCode => Object.hasOwn(coreErrors, code)

/**
 * The error codes that plugins add, with their HTTP status. A plugin declares them by declaration merging (`declare
 * module '@grantry/core' { interface OAuthErrorCodes { invalid_dpop_proof: 400 } }`) and in the `errors` of its fields.
 */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add members by declaration merging.
export interface OAuthErrorCodes {}

/** Every value of `error` that this provider sends. */
export type OAuthErrorCode = CoreErrorCode | keyof OAuthErrorCodes
