import { type EndpointKit, isOAuthError, OAuthError, type OAuthErrorCode, type Refuse } from '@grantry/core'

/** Why a user gets no code. */
export type RefusalCode =
  | 'access_denied'
  | 'account_selection_required'
  | 'consent_required'
  | 'interaction_required'
  | 'login_required'
  | 'temporarily_unavailable'
  | 'unmet_authentication_requirements'

const texts: Readonly<Record<RefusalCode, string>> = {
  access_denied: 'The user has denied the request',
  account_selection_required: 'The user must choose an account',
  consent_required: 'The user must consent',
  interaction_required: 'The user must interact with a page',
  login_required: 'The user must sign in',
  temporarily_unavailable: 'Try again later',
  unmet_authentication_requirements: 'The user cannot be authenticated as the request requires',
}

/** Refuses a request because of its user. */
export const refused = (code: RefusalCode, refuse: Refuse): OAuthError => refuse(code, texts[code], code)

/** Refuses a user who was deactivated, before a code or a session of the user begins. */
export async function assertActive(sub: string, kit: Pick<EndpointKit, 'isUserActive' | 'refuse'>): Promise<void> {
  if (!(await kit.isUserActive(sub))) throw kit.refuse('login_required', texts.login_required, 'user_inactive')
}

/** Refuses a decision of an interaction that has neither asked the user nor a reason not to. */
export const notAsked = (refuse: Refuse): OAuthError =>
  refuse('consent_required', texts.consent_required, 'user_not_asked', {
    detail: 'Ask the user, return what recallConsent() returns, or return trusted: true for an application of your own',
  })

/** Codes of the token endpoint and of APIs, which have another meaning for a client that waits for a code. */
const foreign: ReadonlySet<OAuthErrorCode> = new Set<OAuthErrorCode>([
  'authorization_pending',
  'expired_token',
  'insufficient_scope',
  'invalid_client',
  'invalid_grant',
  'invalid_token',
  'slow_down',
  'unsupported_grant_type',
])

/**
 * Returns what a client receives instead of a code: the browser cannot deliver a status of 500 or 503, so a failure has
 * an error code too.
 *
 * @see RFC 6749 section 4.1.2.1; OpenID Connect Core section 3.1.2.6
 */
export function clientError(thrown: unknown): OAuthError {
  if (isOAuthError(thrown) && !foreign.has(thrown.code)) return thrown
  if (isOAuthError(thrown) && thrown.code === 'slow_down') {
    return new OAuthError('temporarily_unavailable', texts.temporarily_unavailable, { reason: thrown.details.reason })
  }
  return new OAuthError('server_error', 'The request failed', { reason: 'unhandled_failure', cause: thrown })
}
