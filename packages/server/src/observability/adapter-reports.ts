import { describeCause, methodOf, openTraceContext, webRuntime } from '@grantry/core'
import type { AdapterReports, RefusedRequest } from '../adapter.ts'
import type { ConfigurationRead, RequestAnswered, ServerObserver } from './server-event.ts'

/**
 * Returns the common fields of an event that belongs to no request of the provider. Ignores the trace headers of a refused
 * request: they may be why it was refused.
 */
export function commonFields() {
  const requestId = webRuntime.base64url(webRuntime.randomBytes(9))
  const { traceId, spanId } = openTraceContext(new Headers(), webRuntime)
  return { id: `${requestId}.1`, requestId, traceId, spanId, time: webRuntime.now() }
}

export function refusedRequestEvent({ status, method, clientAddress }: RefusedRequest): RequestAnswered {
  return {
    type: 'request_answered',
    ...commonFields(),
    endpoint: 'refused',
    httpMethod: methodOf({ method }),
    status,
    duration: 0,
    ...(clientAddress !== undefined && { clientAddress }),
  }
}

/** Returns the event of an attempt to read the configuration again. */
export const configurationEvent = (
  read: Pick<ConfigurationRead, 'type' | 'reason' | 'message'>,
): ConfigurationRead => ({
  ...commonFields(),
  ...read,
})

/** Turns the reports of the adapter into events for the log and the metrics. */
export function adapterReports(observe: ServerObserver): AdapterReports {
  return {
    onRefused: (request) => observe(refusedRequestEvent(request)),
    onError: (cause) =>
      observe({ type: 'unhandled_failure', ...commonFields(), reason: 'handler_failed', cause: describeCause(cause) }),
    onWarning: ({ reason, message, clientAddress }) =>
      observe({
        type: 'startup_warning',
        ...commonFields(),
        reason,
        message,
        ...(clientAddress !== undefined && { clientAddress }),
      }),
  }
}
