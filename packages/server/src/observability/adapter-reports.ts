import { describeCause, openTraceContext, webRuntime } from '@grantry/core'
import type { AdapterReports } from '../adapter.ts'
import { refusedRequest } from './refused-request.ts'
import type { ServerObserver } from './server-event.ts'

/** Returns the common fields of an event that belongs to no request of the provider. */
function circumstances() {
  const requestId = webRuntime.base64url(webRuntime.randomBytes(9))
  const { traceId, spanId } = openTraceContext(new Headers(), webRuntime)
  return { id: `${requestId}.1`, requestId, traceId, spanId, time: webRuntime.now() }
}

/** Turns the reports of the adapter into events for the log and the metrics. */
export function adapterReports(observe: ServerObserver): AdapterReports {
  return {
    onRefused: (request) => observe(refusedRequest(request)),
    onError: (cause) =>
      observe({ type: 'unhandled_failure', ...circumstances(), reason: 'handler_failed', cause: describeCause(cause) }),
    onWarning: ({ reason, message, clientAddress }) =>
      observe({
        type: 'startup_warning',
        ...circumstances(),
        reason,
        message,
        ...(clientAddress !== undefined && { clientAddress }),
      }),
  }
}
