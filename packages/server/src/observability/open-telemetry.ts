import type { AtomicDriver, ConnectionInfo, Handler, Observer, Provider, TraceContext } from '@grantry/core'
import { methodOf, parseTraceparent } from '@grantry/core'
import {
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { observedDriver } from './observed-driver.ts'

/** Spans for a provider: see `openTelemetry`. */
export interface Tracing {
  /** Adds the request id, the client and the reason of a refusal to the span. Without it a span has only a status. */
  readonly observe: Observer
  /** Returns the provider with handlers that open a span of kind SERVER for each request. */
  provider<P extends Provider>(provider: P): P
  /** Returns the driver with a span of kind CLIENT for each operation inside a recorded span. */
  storage<D extends AtomicDriver>(driver: D): D
}

const serverFailure = 500

// Reads request headers for the propagator that the host has registered.
const headerGetter = {
  keys: (headers: Headers): string[] => [...headers.keys()],
  get: (headers: Headers, name: string): string | undefined => headers.get(name) ?? undefined,
}

/** Returns the caller's span from the registered propagator, or from `traceparent` if it finds none. */
function parentContextOf({ headers }: Request): Context {
  const extracted = propagation.extract(ROOT_CONTEXT, headers, headerGetter)
  if (trace.getSpanContext(extracted) !== undefined) return extracted
  const parent = parseTraceparent(headers.get('traceparent'))
  if (parent === undefined) return extracted
  const { traceId, parentSpanId: spanId, flags: traceFlags } = parent
  return trace.setSpanContext(extracted, { traceId, spanId, traceFlags, isRemote: true })
}

/** Returns the trace context for the events of this request; `undefined` if the tracer creates no real spans. */
function traceContextOf(span: Span, caller: Context): TraceContext | undefined {
  const spanContext = span.spanContext()
  if (!isSpanContextValid(spanContext)) return undefined
  const parent = trace.getSpanContext(caller)
  const { traceId, spanId, traceFlags: flags } = spanContext
  return { traceId, spanId, flags, ...(parent?.traceId === traceId && { parentSpanId: parent.spanId }) }
}

/**
 * Creates OpenTelemetry spans for a provider, with the tracer that the host's SDK has registered. Each request gets one
 * span, named after its method and route, with the attributes of the HTTP semantic conventions and without query,
 * headers or body. Does nothing if no SDK is registered.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 * @example
 * const tracing = openTelemetry()
 * const provider = tracing.provider(
 *   await createProvider({ ...options, storage: tracing.storage(storage), observe: tracing.observe }),
 * )
 */
export function openTelemetry(tracer: Tracer = trace.getTracer('grantry')): Tracing {
  const open = new Map<string, Span>()

  function traced(handler: Handler, endpoint: string | undefined, route: string | undefined): Handler {
    return async (request, connection) => {
      const caller = parentContextOf(request)
      const method = methodOf(request)
      const clientAddress = connection?.clientAddress
      const attributes = {
        'http.request.method': method,
        'url.scheme': request.url.slice(0, request.url.indexOf(':')),
        ...(route !== undefined && { 'http.route': route, 'url.path': route }),
        ...(endpoint !== undefined && { 'grantry.endpoint': endpoint }),
        ...(clientAddress !== undefined && { 'client.address': clientAddress }),
      }
      const name = route === undefined ? method : `${method} ${route}`
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, caller)
      const traceContext = traceContextOf(span, caller)
      if (traceContext !== undefined) open.set(traceContext.spanId, span)
      const known: ConnectionInfo = { ...connection, ...(traceContext !== undefined && { traceContext }) }
      try {
        const response = await context.with(trace.setSpan(caller, span), () => handler(request, known))
        span.setAttribute('http.response.status_code', response.status)
        if (response.status >= serverFailure) span.setStatus({ code: SpanStatusCode.ERROR })
        return response
      } finally {
        if (traceContext !== undefined) open.delete(traceContext.spanId)
        span.end()
      }
    }
  }

  return {
    observe(event) {
      const span = open.get(event.spanId ?? '')
      if (span === undefined || (event.type !== 'endpoint_succeeded' && event.type !== 'endpoint_failed')) return
      span.setAttribute('grantry.request_id', event.requestId)
      if (event.clientId !== undefined) span.setAttribute('grantry.client_id', event.clientId)
      if (event.type === 'endpoint_failed') span.setAttribute('error.type', event.reason)
    },
    provider(provider) {
      const { paths, handlers: plain } = provider
      const byHandler = new Map<Handler, Handler>()
      const handlers: Record<string, Handler> = {}
      for (const [name, handler] of Object.entries(plain)) {
        if (handler === undefined) continue
        const wrapped = traced(handler, name, paths[name])
        handlers[name] = wrapped
        // Disabled endpoints share one handler.
        if (paths[name] !== undefined) byHandler.set(handler, wrapped)
      }
      const unknown = traced(provider.fetch, undefined, undefined)
      const route = (request: Request): Handler | undefined => {
        const handler = provider.route(request)
        return handler && (byHandler.get(handler) ?? handler)
      }
      return Object.freeze({
        ...provider,
        handlers: Object.freeze(handlers) as Provider['handlers'],
        route,
        fetch: (request: Request, connection?: ConnectionInfo) => (route(request) ?? unknown)(request, connection),
        get observerFailures() {
          return provider.observerFailures
        },
      })
    },
    storage: (driver) =>
      observedDriver(driver, (operation) => {
        // Outside of a request, each operation would be a trace of its own.
        if (trace.getActiveSpan()?.isRecording() !== true) return () => {}
        const attributes = { 'db.operation.name': operation, ...(driver.name && { 'db.system.name': driver.name }) }
        const span = tracer.startSpan(operation, { kind: SpanKind.CLIENT, attributes })
        return (failed) => {
          if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        }
      }),
  }
}
