import type { ProviderEvent } from '@grantry/core'
import { expect } from 'vitest'

/** Where a request without a `traceparent` stands: in a trace of its own. For comparing an event as a whole. */
export const place = {
  requestId: expect.stringMatching(/^[\w-]{12}$/u),
  traceId: expect.stringMatching(/^[0-9a-f]{32}$/u),
  spanId: expect.stringMatching(/^[0-9a-f]{16}$/u),
}

/** The fact of an event, without when and where it happened. */
export function factOf(event: ProviderEvent) {
  const { id: _, requestId: _1, traceId: _2, spanId: _3, parentSpanId: _4, time: _5, endpoint: _6, ...fact } = event
  return fact
}
