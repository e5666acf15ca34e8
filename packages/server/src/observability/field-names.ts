/**
 * The names of log fields, as the semantic conventions of OpenTelemetry have them; docs/guides/observability.md has the table, with ECS beside it.
 * A field that they do not know is `grantry.` and its name in snake case.
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

/** The name of an event's field in the log. Events have a fixed set of fields, so the memory that this keeps is bounded. */
export function fieldName(field: string): string {
  const found = known.get(field)
  if (found !== undefined) return found
  const name = `grantry.${field.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)}`
  known.set(field, name)
  return name
}
