import { methodOf, openTraceContext, webRuntime } from '@grantry/core'
import type { RefusedRequest } from '../adapter.ts'
import type { RequestAnswered } from './server-event.ts'

/** Returns the event of a request that the adapter refused. Its headers are ignored, because they may be the reason. */
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
