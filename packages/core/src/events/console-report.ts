import type { EventCause } from './cause.ts'
import type { Fact } from './event.ts'

/** White space, and control characters that a terminal could interpret. */
const notPlain = /[\p{C}\s]+/gu

function causeText({ name, message, stack, cause }: EventCause): string {
  const frame = cause === undefined ? /^[ \t]+(at .+)$/mu.exec(stack ?? '')?.[1] : undefined
  const location = frame === undefined ? '' : ` (${frame})`
  return `${name}: ${message}${location}${cause === undefined ? '' : `, caused by ${causeText(cause)}`}`
}

/** Returns the log line of a failure or warning; `undefined` for other facts. */
function lineOf(fact: Fact, endpoint: string | undefined): string | undefined {
  if (fact.type === 'startup_warning') return `warning: ${fact.message} [${fact.reason}]`
  if (fact.type === 'secret_skipped') return `warning: a stored secret of ${fact.owner} is not a hash and was skipped`
  if (fact.type !== 'unhandled_failure') return undefined
  const { reason, port, cause } = fact
  const location = [endpoint, port].filter((name) => name !== undefined).join(', ')
  return `error: ${reason}${location === '' ? '' : ` (${location})`}: ${causeText(cause)}`
}

/** Logs internal failures and warnings to `console.error` when there is no observer, one line each. Never throws. */
export function reportToConsole(fact: Fact, endpoint: string | undefined): void {
  try {
    const line = lineOf(fact, endpoint)
    if (line !== undefined) console.error(`grantry ${line.replaceAll(notPlain, ' ')}`)
  } catch {
    // A replaced console may throw. A response must not depend on it.
  }
}
