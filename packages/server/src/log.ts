import type { Observer, ProviderEvent } from '@grantry/core'

/** Where lines go, and whether a person reads them. */
export interface LogOutput {
  write(text: string): unknown
  readonly isTTY?: boolean
}

function printable(cause: unknown): unknown {
  return cause instanceof Error ? { name: cause.name, message: cause.message, stack: cause.stack } : String(cause)
}

function readable({ time, type, id, ...rest }: ProviderEvent): string {
  const clock = new Date(time * 1000).toISOString().slice(11, 19)
  const facts = Object.entries(rest).map(([name, value]) => {
    const shown = name === 'cause' ? printable(value) : value
    return `${name}=${typeof shown === 'string' ? shown : JSON.stringify(shown)}`
  })
  // A name that a stranger chose may hold control characters; a terminal must not obey them.
  return `${clock} ${type} ${facts.join(' ')}`.replaceAll(/\p{Cc}/gu, ' ')
}

const asJson = (event: ProviderEvent): string =>
  JSON.stringify('cause' in event ? { ...event, cause: printable(event.cause) } : event)

/** One line per event: JSON, or words on a terminal. */
export const createLog = (output: LogOutput): Observer => {
  const line = output.isTTY === true ? readable : asJson
  return (event) => output.write(`${line(event)}\n`)
}
