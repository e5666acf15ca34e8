import * as v from 'valibot'

const id = v.pipe(v.string(), v.regex(/^[\w-]{12}$/u))
const traceId = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/u))
const spanId = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/u))
const word = v.pipe(v.string(), v.regex(/^[a-z_]+$/u))

const head = {
  time: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u)),
  level: v.picklist(['debug', 'info', 'warn', 'error']),
  msg: v.pipe(v.string(), v.nonEmpty()),
  'event.name': word,
}

const common = {
  ...head,
  'event.id': v.pipe(v.string(), v.regex(/^[\w-]{12}\.\d+$/u)),
  'grantry.request_id': id,
  trace_id: v.exactOptional(traceId),
  span_id: v.exactOptional(spanId),
  parent_span_id: v.exactOptional(spanId),
  'grantry.endpoint': v.exactOptional(v.pipe(v.string(), v.regex(/^[A-Za-z]+$/u))),
  'grantry.client_id': v.exactOptional(v.string()),
  'user.id': v.exactOptional(v.string()),
  'client.address': v.exactOptional(v.string()),
}

// The same names as in a line of its own, without those that all events of a request share.
const nested = v.pipe(
  v.looseObject({ 'event.name': word }),
  v.check((event) =>
    ['event.id', 'trace_id', 'span_id', 'grantry.request_id', 'client.address', 'http.route'].every(
      (name) => !(name in event),
    ),
  ),
)

const request = {
  trace_id: traceId,
  span_id: spanId,
  'grantry.endpoint': common['grantry.endpoint'].wrapped,
  'http.request.method': v.picklist(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', '_OTHER']),
  'http.response.status_code': v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  duration_ms: v.pipe(
    v.number(),
    v.minValue(0),
    v.check((value) => /^\d+(?:\.\d{1,3})?$/u.test(String(value))),
  ),
  'grantry.events': v.exactOptional(v.pipe(v.array(nested), v.nonEmpty())),
}
const route = v.pipe(v.string(), v.regex(/^\/[\w/.-]*$/u))

const schemas: Readonly<Record<string, v.GenericSchema>> = {
  endpoint_succeeded: v.strictObject({ ...common, ...request, 'http.route': route }),
  endpoint_failed: v.strictObject({
    ...common,
    ...request,
    // Absent for a path that matches no route.
    'http.route': v.exactOptional(route),
    'grantry.error': v.string(),
    'error.type': v.string(),
    'grantry.description': v.string(),
  }),
  request_answered: v.strictObject({ ...common, ...request, 'http.route': v.exactOptional(route) }),
}

/** Lifecycle lines, which have no event. */
export const isLifecycle = ({ type, id: eventId }: LogLine): boolean =>
  type.startsWith('server_') || (type === 'startup_warning' && eventId === undefined)

/** A log line with the field names of events. */
export interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string
  readonly msg: string
  readonly type: string
  readonly id: string
  readonly requestId: string
  readonly endpoint?: string
  readonly traceId?: string
  readonly spanId?: string
  readonly parentSpanId?: string
  readonly events?: readonly Readonly<Record<string, unknown>>[]
}

const eventNames: Readonly<Record<string, string>> = {
  'event.name': 'type',
  'event.id': 'id',
  'http.request.method': 'httpMethod',
  'http.response.status_code': 'status',
  duration_ms: 'duration',
  'client.address': 'clientAddress',
  'user.id': 'sub',
  'user.name': 'username',
  'error.type': 'reason',
}

const eventName = (name: string): string =>
  eventNames[name] ??
  name.replace(/^grantry\./u, '').replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase())

/** Whether the line is the final line of a request. */
export const isRequest = ({ status }: LogLine): boolean => status !== undefined

const withEventNames = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [eventName(name), field]))

/** Returns all events: each line, and before the line of a request the events inside it. */
export const eventsIn = (lines: readonly LogLine[]): readonly LogLine[] =>
  lines.flatMap((line) => {
    const { requestId, endpoint, traceId, spanId, level } = line
    const shared = { requestId, endpoint, traceId, spanId, level }
    return [...(line.events ?? []).map((each) => ({ ...shared, ...withEventNames(each) }) as unknown as LogLine), line]
  })

/** @throws Error if a line is incomplete, not JSON, has control characters or does not match the schema of its type. */
export function parseLog(text: string): readonly LogLine[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is incomplete')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(line)) throw new Error(`a control character: ${JSON.stringify(line)}`)
      const value = v.parse(v.looseObject(head), JSON.parse(line))
      const parsed = withEventNames(value) as unknown as LogLine
      if (!isLifecycle(parsed)) v.parse(schemas[parsed.type] ?? v.looseObject(common), value)
      return parsed
    })
}
