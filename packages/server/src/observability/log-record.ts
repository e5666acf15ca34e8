import type { Level } from './level.ts'
import type { ServerEvent } from './server-event.ts'

export type Field = readonly [name: string, value: unknown]

/**
 * The names of log fields in the semantic conventions of OpenTelemetry. All other fields are `grantry.` and the name in
 * snake case. docs/guides/observability.md has a table with the names in ECS.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/registry/attributes/
 */
const conventional: Readonly<Record<string, string>> = {
  id: 'event.id',
  traceId: 'trace_id',
  spanId: 'span_id',
  parentSpanId: 'parent_span_id',
  httpMethod: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  duration: 'duration_ms',
  clientAddress: 'client.address',
  sub: 'user.id',
  username: 'user.name',
}

const known = new Map(Object.entries(conventional))

/** Returns the log name of an event field. The cache is bounded, because events have a fixed set of fields. */
function fieldName(field: string): string {
  const found = known.get(field)
  if (found !== undefined) return found
  const name = `grantry.${field.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)}`
  known.set(field, name)
  return name
}

/** A log line before it is formatted. */
export interface LogRecord {
  readonly level: Level
  /** The type of the event; see docs/events.md. */
  readonly name: string
  /** One readable sentence. */
  readonly message: string
  /** Log names and values, in output order. */
  readonly fields: readonly Field[]
}

/** Returns the path of an endpoint of the provider, if it is known. */
export type RouteOf = (endpoint: string) => string | undefined

// Already in the message or in other fields of the line.
const omittedFields: ReadonlySet<string> = new Set(['type', 'time', 'message', 'cause', 'route'])

const inMilliseconds = (duration: number): number => Math.round(duration * 1000) / 1000

/** What was thrown. An observer may get the error itself, or a copy of it that JSON can hold. */
function exceptionOf(cause: unknown): { readonly type?: string; readonly message: string; readonly stack?: string } {
  if (typeof cause !== 'object' || cause === null) return { message: String(cause) }
  const { name, message, stack } = cause as Partial<Record<'name' | 'message' | 'stack', unknown>>
  return {
    ...(typeof name === 'string' && { type: name }),
    message: typeof message === 'string' ? message : Object.prototype.toString.call(cause),
    ...(typeof stack === 'string' && { stack }),
  }
}

/** Returns the fields for a thrown value, with its stack trace. */
export function exceptionFields(thrown: unknown): readonly Field[] {
  const { type, message, stack } = exceptionOf(thrown)
  return [
    ['exception.type', type],
    ['exception.message', message],
    ['exception.stacktrace', stack],
  ]
}

/** `POST /connect/token 400 secret_mismatch`. A path that matches no route is not logged, because it can contain a token. */
function eventMessage(event: ServerEvent, route: string | undefined): string {
  const reason = 'reason' in event ? event.reason : undefined
  if ('httpMethod' in event) {
    const target = route ?? (event.endpoint === 'unknown' ? 'unmatched' : event.endpoint)
    return `${event.httpMethod} ${target} ${event.status}${reason === undefined ? '' : ` ${reason}`}`
  }
  if ('message' in event) return event.message
  const words = event.type.replaceAll('_', ' ')
  const explained = reason === undefined ? words : `${words}: ${reason}`
  return 'cause' in event ? `${explained}: ${exceptionOf(event.cause).message}` : explained
}

/** Returns the record of an event. The fields are a list, because objects of many different shapes are slow. */
export function recordOf(event: ServerEvent, level: Level, routeOf: RouteOf): LogRecord {
  const isFailure = event.type === 'endpoint_failed' || event.type === 'unhandled_failure'
  const route = 'route' in event ? event.route : 'httpMethod' in event ? routeOf(event.endpoint ?? '') : undefined
  const fields: Field[] = []
  for (const field in event) {
    if (omittedFields.has(field)) continue
    const value = event[field as keyof ServerEvent] as unknown
    if (field === 'reason' && isFailure) fields.push(['error.type', value])
    else if (field === 'duration') fields.push(['duration_ms', inMilliseconds(value as number)])
    else fields.push([fieldName(field), value])
  }
  if (route !== undefined) fields.push(['http.route', route])
  if ('cause' in event) fields.push(...exceptionFields(event.cause))
  return { level, name: event.type, message: eventMessage(event, route), fields }
}
