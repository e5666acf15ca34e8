import { harmlessText } from './harmless-text.ts'
import { levelOf } from './observability/level.ts'
import { createLineWriter, type LineOutput, type LineWriter } from './observability/line-writer.ts'
import type { ServerEvent, ServerObserver } from './observability/server-event.ts'

/** A log, and what became of it. */
export interface Log extends Pick<LineWriter, 'dropped' | 'end'> {
  readonly observe: ServerObserver
}

function printable(cause: unknown): unknown {
  return cause instanceof Error ? { name: cause.name, message: cause.message, stack: cause.stack } : String(cause)
}

// A person at a terminal looks at the moment; who wants to follow a request reads the JSON.
const onlyInJson: ReadonlySet<string> = new Set([
  'type',
  'id',
  'time',
  'requestId',
  'traceId',
  'spanId',
  'parentSpanId',
])

function readable(event: ServerEvent): string {
  const clock = new Date(event.time * 1000).toISOString().slice(11, 19)
  const facts = Object.entries(event).flatMap(([name, value]) => {
    if (onlyInJson.has(name)) return []
    const shown = name === 'cause' ? printable(value) : value
    return [`${name}=${typeof shown === 'string' ? shown : JSON.stringify(shown)}`]
  })
  return harmlessText(`${clock} ${event.type} ${facts.join(' ')}`)
}

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')

function asJson(event: ServerEvent, level: string): string {
  const { type, time } = event
  // Without object spread, which is slow where shapes differ: events have as many as types.
  const line: Record<string, unknown> = { time, level, type }
  Object.assign(line, event)
  // Beyond microseconds there is only noise.
  if ('duration' in event) line.duration = Math.round(event.duration * 1000) / 1000
  if ('cause' in event) line.cause = printable(event.cause)
  // JSON escapes C0 only.
  const text = JSON.stringify(line)
  return /^[\x20-\x7E]*$/u.test(text) ? text : harmlessText(text, escaped)
}

/** One line per event and request: JSON, or words on a terminal. Never throws, never waits. */
export function createLog(output: LineOutput): Log {
  const person = output.isTTY === true
  const notice = (count: number): string =>
    person
      ? `${count} lines of the log were dropped: nobody took them`
      : JSON.stringify({ time: Math.floor(Date.now() / 1000), level: 'warn', type: 'log_lines_dropped', count })
  const writer = createLineWriter(output, notice)
  return {
    observe(event) {
      const level = levelOf(event)
      if (level !== undefined) writer.write(person ? readable(event) : asJson(event, level))
    },
    get dropped() {
      return writer.dropped
    },
    end: (milliseconds) => writer.end(milliseconds),
  }
}
