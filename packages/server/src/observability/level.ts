import type { ServerEvent } from './server-event.ts'

export type Level = 'info' | 'warn' | 'error'

/** What an operator should look at some day. Everything else is the ordinary course of things, refusals too. */
const warnings: ReadonlySet<string> = new Set([
  'client_authentication_failed',
  'user_authentication_failed',
  'introspection_denied',
  'preflight_refused',
  'code_replayed',
  'refresh_reused',
  'redemption_replayed',
  'secret_skipped',
  'record_rejected',
  'startup_warning',
] satisfies readonly ServerEvent['type'][])

const serverFailure = 500

/**
 * How loud an event is; `undefined`: not worth a line, because it is a probe or a scraper that got what it came for, every few seconds.
 */
export function levelOf(event: ServerEvent): Level | undefined {
  if (event.type === 'unhandled_failure') return 'error'
  if (event.type === 'request_answered') {
    // An outage and an overload are told by every one of them.
    if (event.status >= serverFailure)
      return event.endpoint === 'health' || event.endpoint === 'refused' ? 'warn' : 'error'
    return event.status === 200 && event.endpoint !== 'demo' ? undefined : 'info'
  }
  if (event.type === 'endpoint_failed' && event.status >= serverFailure) return 'error'
  return warnings.has(event.type) ? 'warn' : 'info'
}
