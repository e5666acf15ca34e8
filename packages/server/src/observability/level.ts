import type { ServerEvent } from './server-event.ts'

/** What a line can be, from the least to the most urgent. */
const levels = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof levels)[number]

/** What an operator can choose: the least urgent level that is logged, or nothing at all. */
export const logLevels = [...levels, 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Whether a line of this level is logged where the operator has chosen that one. */
export const isLogged = (level: Level, chosen: LogLevel): boolean =>
  logLevels.indexOf(level) >= logLevels.indexOf(chosen)

/** What an operator should look into. Refused requests are not among it: they are ordinary. */
const warnings: ReadonlySet<string> = new Set([
  'client_authentication_failed',
  'user_authentication_failed',
  'introspection_denied',
  'preflight_refused',
  'code_replayed',
  'code_ended',
  'refresh_reused',
  'redemption_replayed',
  'secret_skipped',
  'record_rejected',
  'startup_warning',
] satisfies readonly ServerEvent['type'][])

const serverFailure = 500

/** How urgent an event is. A probe or a scrape that succeeds comes every few seconds, and is `debug`. */
export function levelOf(event: ServerEvent): Level {
  if (event.type === 'unhandled_failure') return 'error'
  if (event.type === 'request_answered') {
    // Every probe repeats an outage, and every refused request an overload.
    if (event.status >= serverFailure)
      return event.endpoint === 'health' || event.endpoint === 'refused' ? 'warn' : 'error'
    return event.status === 200 && event.endpoint !== 'demo' ? 'debug' : 'info'
  }
  if (event.type === 'endpoint_failed' && event.status >= serverFailure) return 'error'
  return warnings.has(event.type) ? 'warn' : 'info'
}
