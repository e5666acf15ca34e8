import type { ProviderEvent } from '@grantry/core'
import { expect } from 'vitest'

/** The trace fields of a request without a `traceparent`: its own trace. For comparing an event as a whole. */
export const traceFields = {
  requestId: expect.stringMatching(/^[\w-]{12}$/u),
  traceId: expect.stringMatching(/^[0-9a-f]{32}$/u),
  spanId: expect.stringMatching(/^[0-9a-f]{16}$/u),
}

/** Returns an event without the fields that depend on the run: ids, trace, time and endpoint. */
export function eventFact(event: ProviderEvent) {
  const { id: _, requestId: _1, traceId: _2, spanId: _3, parentSpanId: _4, time: _5, endpoint: _6, ...fact } = event
  return fact
}
