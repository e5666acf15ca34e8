import { methodOf, openTraceContext, webRuntime } from '@grantry/core'
import type { RefusedRequest } from '../adapter.ts'
import type { RequestAnswered } from './server-event.ts'

/** What the log and the metrics hear of a request that no handler was asked. Nothing of its head is believed: it is why it was refused. */
export function refusedRequest({ status, method, clientAddress }: RefusedRequest): RequestAnswered {
  const requestId = webRuntime.base64url(webRuntime.randomBytes(9))
  const { traceId, spanId } = openTraceContext(new Headers(), webRuntime)
  return {
    type: 'request_answered',
    id: `${requestId}.1`,
    requestId,
    traceId,
    spanId,
    time: webRuntime.now(),
    endpoint: 'refused',
    httpMethod: methodOf({ method }),
    status,
    duration: 0,
    ...(clientAddress !== undefined && { clientAddress }),
  }
}
