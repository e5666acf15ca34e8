import * as v from 'valibot'

const id = v.pipe(v.string(), v.regex(/^[\w-]{12}$/u))
const traceId = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/u))
const spanId = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/u))

const common = {
  time: v.pipe(v.number(), v.integer()),
  level: v.picklist(['info', 'warn', 'error']),
  type: v.pipe(v.string(), v.regex(/^[a-z_]+$/u)),
  id: v.pipe(v.string(), v.regex(/^[\w-]{12}\.\d+$/u)),
  requestId: id,
  traceId: v.exactOptional(traceId),
  spanId: v.exactOptional(spanId),
  parentSpanId: v.exactOptional(spanId),
  endpoint: v.exactOptional(v.pipe(v.string(), v.regex(/^[A-Za-z]+$/u))),
  clientId: v.exactOptional(v.string()),
  sub: v.exactOptional(v.string()),
  clientAddress: v.exactOptional(v.string()),
}

const request = {
  traceId,
  spanId,
  endpoint: common.endpoint.wrapped,
  httpMethod: v.picklist(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', '_OTHER']),
  status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  duration: v.pipe(v.number(), v.minValue(0)),
}

const schemas: Readonly<Record<string, v.GenericSchema>> = {
  endpoint_succeeded: v.strictObject({ ...common, ...request }),
  endpoint_failed: v.strictObject({
    ...common,
    ...request,
    error: v.string(),
    reason: v.string(),
    description: v.string(),
  }),
  request_answered: v.strictObject({
    ...common,
    ...request,
    route: v.exactOptional(v.pipe(v.string(), v.regex(/^\/[\w/.-]*$/u))),
  }),
}

/** A line of the log. */
export type LogLine = v.InferOutput<v.ObjectSchema<typeof common, undefined>> & Readonly<Record<string, unknown>>

/** Whether it is the one line of a request. */
export const isRequest = ({ status }: LogLine): boolean => status !== undefined

/** @throws Error for what is no whole line of JSON in printable characters, with the fields that its type has. */
export function parseLog(text: string): readonly LogLine[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(line)) throw new Error(`a control character: ${JSON.stringify(line)}`)
      const value: unknown = JSON.parse(line)
      const { type } = v.parse(v.looseObject(common), value)
      return v.parse(schemas[type] ?? v.looseObject(common), value) as LogLine
    })
}
