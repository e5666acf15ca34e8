import { sanitizeText } from '../sanitize-text.ts'
import type { LogRecord } from './log-record.ts'

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

function json(value: unknown): string | undefined {
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  // JSON.stringify escapes C0 only.
  const text = JSON.stringify(value) as string | undefined
  return text === undefined || /^[ -~]*$/u.test(text) ? text : sanitizeText(text, escaped)
}

/** Concatenates the line. Calling `JSON.stringify` for each value of the field list is slower (decision 39). */
function asJson({ level, name, message, fields }: LogRecord, time: string): string {
  let line = `{"time":"${time}","level":"${level}","msg":${json(message)},"event.name":"${name}"`
  for (const [field, value] of fields) {
    const text = json(value)
    if (text !== undefined) line += `,"${field}":${text}`
  }
  return `${line}}`
}

// Ids correlate lines for programs, which read JSON. The other fields are part of the message.
const onlyInJson: ReadonlySet<string> = new Set([
  'event.id',
  'grantry.request_id',
  'trace_id',
  'span_id',
  'parent_span_id',
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'grantry.endpoint',
  'error.type',
  'grantry.reason',
  'exception.message',
])

const ownPrefix = /^grantry\./u

const quoted = (value: unknown): string =>
  typeof value === 'string' && /^[^\s\p{Cc}\p{Cf}"=]+$/u.test(value) ? value : JSON.stringify(value)

function asText({ level, message, fields }: LogRecord, time: string): string {
  let line = `${time} ${level.padEnd(5)} ${message}`
  for (const [name, value] of fields) {
    if (value !== undefined && !onlyInJson.has(name)) line += ` ${name.replace(ownPrefix, '')}=${quoted(value)}`
  }
  return sanitizeText(line)
}

/** Formats a record. `time` is ISO 8601 with milliseconds, in UTC. */
export const lineOf: Readonly<Record<LogFormat, (record: LogRecord, time: string) => string>> = {
  json: asJson,
  text: asText,
}
