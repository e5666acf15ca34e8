import type { ServerEvent } from './server-event.ts'

/** The levels of log lines, in ascending order. */
const levels = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof levels)[number]

/** The configurable thresholds: the lowest level that is logged, or `silent`. */
export const logLevels = [...levels, 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Whether a line of a level is logged at the chosen threshold. */
export const isLogged = (level: Level, chosen: LogLevel): boolean =>
  logLevels.indexOf(level) >= logLevels.indexOf(chosen)

/** Events that an operator should investigate. Most refused requests are normal and not included. */
const warnings: ReadonlySet<string> = new Set([
  'client_authentication_failed',
  'user_authentication_failed',
  'second_factor_failed',
  'passkey_authentication_failed',
  'mail_proof_failed',
  'mail_failed',
  'password_unchecked',
  'introspection_denied',
  'scope_authentication_failed',
  'preflight_refused',
  'code_replayed',
  'code_ended',
  'refresh_reused',
  'refresh_outdated',
  'redemption_replayed',
  'secret_skipped',
  'client_skipped',
  'record_rejected',
  'startup_warning',
] satisfies readonly ServerEvent['type'][])

const serverFailure = 500

/** The endpoints whose refusals stop a user, who cannot mend the mistake. The client usually does not log it. */
const authorizationEndpoints: ReadonlySet<string | undefined> = new Set([
  'authorization',
  'authorizationResume',
  'pushedAuthorization',
  'endSession',
])

/**
 * Refusals that users decide themselves, and those of the requests with `prompt=none` that clients send every few
 * minutes.
 */
const decisions: ReadonlySet<string> = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'unmet_authentication_requirements',
])

/** Whether a refusal is a mistake in the setup of a client, which its operator has to mend. */
const isMisconfigured = ({ endpoint, error, reason }: Extract<ServerEvent, { type: 'endpoint_failed' }>): boolean =>
  authorizationEndpoints.has(endpoint) ? !decisions.has(error) : reason.endsWith('redirect_uri_mismatch')

/** Returns the level of an event. Successful probes and scrapes are `debug`, because they occur every few seconds. */
export function levelOf(event: ServerEvent): Level {
  if (event.type === 'unhandled_failure' || event.type === 'configuration_refused') return 'error'
  if (event.type === 'request_answered') {
    // Not `error`: probes repeat during an outage, and refused requests repeat during an overload.
    if (event.status >= serverFailure)
      return event.endpoint === 'health' || event.endpoint === 'refused' ? 'warn' : 'error'
    return event.status === 200 && event.endpoint !== 'demo' ? 'debug' : 'info'
  }
  if (event.type === 'endpoint_failed') {
    if (event.status >= serverFailure) return 'error'
    return isMisconfigured(event) ? 'warn' : 'info'
  }
  // A user who cancels at another provider is no mistake.
  if (event.type === 'upstream_sign_in_failed') return event.reason === 'provider_access_denied' ? 'info' : 'warn'
  return warnings.has(event.type) ? 'warn' : 'info'
}
