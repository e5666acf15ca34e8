import { type Handler, methodOf, openTraceContext, traceparentOf, webRuntime } from '@grantry/core'
import type { ServerEndpoint, ServerObserver } from './server-event.ts'

/**
 * Wraps a route of the server itself. It reports an event and sets the same response headers as the endpoints of the
 * provider.
 *
 * @param route the path, for the log
 */
export function observedRoute(
  endpoint: ServerEndpoint,
  route: string,
  handler: Handler,
  observe: ServerObserver,
): Handler {
  return async (request, connection) => {
    const started = webRuntime.elapsed()
    const context = connection?.traceContext ?? openTraceContext(request.headers, webRuntime)
    const requestId = webRuntime.base64url(webRuntime.randomBytes(9))
    const { traceId, spanId, parentSpanId } = context
    const clientAddress = connection?.clientAddress
    // The adapter responds with 500 if the handler throws.
    let status = 500
    try {
      const response = await handler(request, connection)
      status = response.status
      response.headers.set('x-request-id', requestId)
      response.headers.set('traceparent', traceparentOf(context))
      return response
    } finally {
      observe({
        type: 'request_answered',
        id: `${requestId}.1`,
        requestId,
        traceId,
        spanId,
        ...(parentSpanId !== undefined && { parentSpanId }),
        time: webRuntime.now(),
        endpoint,
        httpMethod: methodOf(request),
        route,
        status,
        duration: webRuntime.elapsed() - started,
        ...(clientAddress !== undefined && { clientAddress }),
      })
    }
  }
}
