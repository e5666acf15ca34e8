import type { Level } from './level.ts'
import type { ServerEvent } from './server-event.ts'

/** How an event field becomes a log field. */
type Treatment =
  /** The field is in the message or in other fields of the line. */
  | 'omitted'
  /** All events of a request have it, so only the line of the request contains it. */
  | 'shared'
  /** The field becomes known during a request. An event in the line of its request has it only if it differs. */
  | 'learned'
  | 'duration'
  | 'reason'
  | 'plain'

/** The name of a log field, prepared for both formats. */
export interface FieldName {
  /** The start of the member in JSON, with the comma before it. */
  readonly json: string
  /** The name in text. Absent for a field that only programs need, or that the message contains. */
  readonly text: string | undefined
  readonly treatment: Treatment
}

/** Builds one line after the other. */
export interface LineBuilder {
  /** @param time ISO 8601 with milliseconds, in UTC */
  start(time: string, level: Level, message: string, name: string): void
  field(name: FieldName, value: unknown): void
  /** Starts an event inside the line of its request. The following fields are its own. */
  startEvent(message: string, name: string): void
  /** Ends the line and returns it. */
  end(): string
}

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

// `route` is looked up for events of the provider, too.
const treatments: Readonly<Record<string, Treatment>> = {
  type: 'omitted',
  time: 'omitted',
  message: 'omitted',
  cause: 'omitted',
  route: 'omitted',
  id: 'shared',
  requestId: 'shared',
  traceId: 'shared',
  spanId: 'shared',
  parentSpanId: 'shared',
  endpoint: 'shared',
  clientAddress: 'shared',
  clientId: 'learned',
  sub: 'learned',
  tenant: 'learned',
  requestedTenant: 'learned',
  duration: 'duration',
  reason: 'reason',
}

const prepared = (name: string, treatment: Treatment = 'plain'): FieldName => ({
  json: `,${JSON.stringify(name)}:`,
  text: onlyInJson.has(name) ? undefined : name.replace(/^grantry\./u, ''),
  treatment,
})

const ofEventField = new Map<string, FieldName>()

/** Returns the log name of an event field. The cache is bounded, because events have a fixed set of fields. */
function fieldName(field: string): FieldName {
  const cached = ofEventField.get(field)
  if (cached !== undefined) return cached
  const derivedName = `grantry.${field.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)}`
  const name = prepared(conventional[field] ?? derivedName, treatments[field])
  ofEventField.set(field, name)
  return name
}

/** Returns the path of an endpoint of the provider, if it is known. */
export type RouteOf = (endpoint: string) => string | undefined

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
export function exceptionFields(thrown: unknown): Readonly<Record<string, unknown>> {
  const { type, message, stack } = exceptionOf(thrown)
  return { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack }
}

/** By the type of the event, of which there is a fixed set. */
const words = new Map<string, string>()

/** Returns the type of an event in words. Every request has several events. */
function wordsOf(type: string): string {
  const known = words.get(type)
  if (known !== undefined) return known
  const text = type.replaceAll('_', ' ')
  words.set(type, text)
  return text
}

/** `POST /connect/token 400 secret_mismatch`. A path that matches no route is not logged, because it can contain a token. */
function eventMessage(event: ServerEvent, route: string | undefined): string {
  const reason = 'reason' in event ? event.reason : undefined
  if ('httpMethod' in event) {
    const target = route ?? (event.endpoint === 'unknown' ? 'unmatched' : event.endpoint)
    return `${event.httpMethod} ${target} ${event.status}${reason === undefined ? '' : ` ${reason}`}`
  }
  if ('message' in event) return event.message
  const explained = reason === undefined ? wordsOf(event.type) : `${wordsOf(event.type)}: ${reason}`
  return 'cause' in event ? `${explained}: ${exceptionOf(event.cause).message}` : explained
}

/** Adds fields by their log names. */
function addFields(line: LineBuilder, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) line.field(prepared(name), value)
}

const errorType = prepared('error.type')
const httpRoute = prepared('http.route')

/** @param end the end of the request whose line contains the event */
function addEventFields(line: LineBuilder, event: ServerEvent, end: ServerEvent | undefined): void {
  for (const field in event) {
    const value = event[field as keyof ServerEvent] as unknown
    if (value === undefined) continue
    const name = fieldName(field)
    const { treatment } = name
    if (treatment === 'plain') line.field(name, value)
    else if (treatment === 'shared') {
      if (end === undefined) line.field(name, value)
    } else if (treatment === 'learned') {
      if (end?.[field as keyof ServerEvent] !== value) line.field(name, value)
    } else if (treatment === 'duration') line.field(name, inMilliseconds(value as number))
    else if (treatment === 'reason') {
      const isFailure = event.type === 'endpoint_failed' || event.type === 'unhandled_failure'
      line.field(isFailure ? errorType : name, value)
    }
  }
}

/**
 * Returns the line of an event.
 *
 * @param events the events of the request that this event ends
 */
export function lineOfEvent(
  line: LineBuilder,
  event: ServerEvent,
  level: Level,
  time: string,
  routeOf: RouteOf,
  events: readonly ServerEvent[],
): string {
  const route = 'route' in event ? event.route : 'httpMethod' in event ? routeOf(event.endpoint ?? '') : undefined
  line.start(time, level, eventMessage(event, route), event.type)
  addEventFields(line, event, undefined)
  if (route !== undefined) line.field(httpRoute, route)
  if ('cause' in event) addFields(line, exceptionFields(event.cause))
  for (const each of events) {
    line.startEvent(eventMessage(each, undefined), each.type)
    addEventFields(line, each, event)
  }
  return line.end()
}

/** Returns a line that is not an event. `fields` have log names. */
export function lineOfFacts(
  line: LineBuilder,
  level: Level,
  name: string,
  message: string,
  time: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  line.start(time, level, message, name)
  addFields(line, fields)
  return line.end()
}
