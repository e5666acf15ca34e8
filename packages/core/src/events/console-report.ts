import type { EventCause } from './cause.ts'
import type { Fact } from './event.ts'

/** Line breaks, and characters that a terminal obeys. */
const notPlain = /[\p{C}\s]+/gu

function causeText({ name, message, stack, cause }: EventCause): string {
  const frame = cause === undefined ? /^\s+(at .+)$/mu.exec(stack ?? '')?.[1] : undefined
  const place = frame === undefined ? '' : ` (${frame})`
  return `${name}: ${message}${place}${cause === undefined ? '' : `, caused by ${causeText(cause)}`}`
}

/** The line for a fact that must not pass in silence; `undefined` for every other. */
function lineOf(fact: Fact, endpoint: string | undefined): string | undefined {
  if (fact.type === 'startup_warning') return `warning: ${fact.message} [${fact.reason}]`
  if (fact.type === 'secret_skipped') return `warning: a stored secret of ${fact.owner} is not a hash and was skipped`
  if (fact.type !== 'unhandled_failure') return undefined
  const { reason, port, cause } = fact
  const place = [endpoint, port].filter((name) => name !== undefined).join(', ')
  return `error: ${reason}${place === '' ? '' : ` (${place})`}: ${causeText(cause)}`
}

/** Where no observer gets the events: one line on `console.error` for each failure of ours and each warning. Never throws. */
export function reportToConsole(fact: Fact, endpoint: string | undefined): void {
  try {
    const line = lineOf(fact, endpoint)
    if (line !== undefined) console.error(`grantry ${line.replaceAll(notPlain, ' ')}`)
  } catch {
    // A console of the host's own may throw. A response must not depend on it.
  }
}
