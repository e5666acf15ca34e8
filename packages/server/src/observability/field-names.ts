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
export function fieldName(field: string): string {
  const found = known.get(field)
  if (found !== undefined) return found
  const name = `grantry.${field.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)}`
  known.set(field, name)
  return name
}
