import { sanitizeText } from '../sanitize-text.ts'
import type { LineBuilder } from './log-record.ts'

/** `json`: one JSON object per line. `text`: one readable line. */
export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')

// Printable ASCII that JSON does not escape. Nearly all values match.
const plain = /^[ !#-[\]-~]*$/u

const isPlain = (value: unknown): boolean => typeof value === 'string' && plain.test(value)

function json(value: unknown): string | undefined {
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`
  if (Array.isArray(value) && value.every(isPlain)) return value.length === 0 ? '[]' : `["${value.join('","')}"]`
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  // JSON.stringify escapes C0 only.
  const text = JSON.stringify(value) as string | undefined
  return text === undefined || /^[ -~]*$/u.test(text) ? text : sanitizeText(text, escaped)
}

/** Concatenates the line. Calling `JSON.stringify` for each value is slower (decision 39). */
function jsonLine(): LineBuilder {
  let text = ''
  // What closes the line: an event and the list of events, if it has any.
  let closing = '}'
  return {
    start(time, level, message, name) {
      text = `{"time":"${time}","level":"${level}","msg":${json(message)},"event.name":"${name}"`
      closing = '}'
    },
    field(name, value) {
      const shown = json(value)
      if (shown !== undefined) text += name.json + shown
    },
    startEvent(_, name) {
      text += closing === '}' ? `,"grantry.events":[{"event.name":"${name}"` : `},{"event.name":"${name}"`
      closing = '}]}'
    },
    end: () => text + closing,
  }
}

const quoted = (value: unknown): string =>
  typeof value === 'string' && /^[^\s\p{Cc}\p{Cf}"=]+$/u.test(value) ? value : JSON.stringify(value)

/** A value with a space is quoted, so no value looks like the separator of events. */
function textLine(): LineBuilder {
  let text = ''
  return {
    start(time, level, message) {
      text = `${time} ${level.padEnd(5)} ${message}`
    },
    field(name, value) {
      if (value !== undefined && name.text !== undefined) text += ` ${name.text}=${quoted(value)}`
    },
    startEvent(message) {
      text += ` | ${message}`
    },
    end: () => sanitizeText(text),
  }
}

export const lineBuilders: Readonly<Record<LogFormat, () => LineBuilder>> = { json: jsonLine, text: textLine }
