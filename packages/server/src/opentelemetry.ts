import type {
  AtomicDriver,
  ConnectionInfo,
  EndpointName,
  Handler,
  Observer,
  Provider,
  TraceContext,
} from '@grantry/core'
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
import { observedDriver } from './observability/observed-driver.ts'

/** Spans for a provider: see `openTelemetry`. */
export interface Tracing {
  /** Gives a span the reason of a refusal, who asked, and for whom. Without it a span knows its status only. */
  readonly observe: Observer
  /** The same provider; its handlers open a span of kind SERVER for each request. */
  provider<P extends Provider>(provider: P): P
  /** The same driver; each operation during a span that is recorded is a span of kind CLIENT. */
  storage<D extends AtomicDriver>(driver: D): D
}

const serverFailure = 500

// The header of a caller, for whichever propagator the operator has registered.
const headerGetter = {
  keys: (headers: Headers): string[] => [...headers.keys()],
  get: (headers: Headers, name: string): string | undefined => headers.get(name) ?? undefined,
}

/** The caller's span: as the registered propagator reads it, and `traceparent` where there is none. */
function callerOf({ headers }: Request): Context {
  const extracted = propagation.extract(ROOT_CONTEXT, headers, headerGetter)
  if (trace.getSpanContext(extracted) !== undefined) return extracted
  const parent = parseTraceparent(headers.get('traceparent'))
  if (parent === undefined) return extracted
  const { traceId, parentSpanId: spanId, flags: traceFlags } = parent
  return trace.setSpanContext(extracted, { traceId, spanId, traceFlags, isRemote: true })
}

/** What the events of this request say of their place; nothing where no tracer makes real spans. */
function placeOf(span: Span, caller: Context): TraceContext | undefined {
  const own = span.spanContext()
  if (!isSpanContextValid(own)) return undefined
  const parent = trace.getSpanContext(caller)
  const { traceId, spanId, traceFlags: flags } = own
  return { traceId, spanId, flags, ...(parent?.traceId === traceId && { parentSpanId: parent.spanId }) }
}

/**
 * OpenTelemetry spans for a provider, with the tracer that the host's SDK has registered: one per request, named after method and endpoint, with the
 * attributes of the semantic conventions for HTTP, and no query, header or body. Where no SDK is registered it does nothing.
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

  function traced(handler: Handler, endpoint: EndpointName | undefined, route: string | undefined): Handler {
    return async (request, connection) => {
      const caller = callerOf(request)
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
      const place = placeOf(span, caller)
      if (place !== undefined) open.set(place.spanId, span)
      const known: ConnectionInfo = { ...connection, ...(place !== undefined && { traceContext: place }) }
      try {
        const response = await context.with(trace.setSpan(caller, span), () => handler(request, known))
        span.setAttribute('http.response.status_code', response.status)
        if (response.status >= serverFailure) span.setStatus({ code: SpanStatusCode.ERROR })
        return response
      } finally {
        if (place !== undefined) open.delete(place.spanId)
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
      const names = Object.keys(plain) as readonly EndpointName[]
      const handlers = Object.freeze(
        Object.fromEntries(names.map((name) => [name, traced(plain[name], name, paths[name])])),
      ) as Provider['handlers']
      // An endpoint that is off shares its handler with the others that are.
      const byHandler = new Map(
        names.flatMap((name) => (paths[name] === undefined ? [] : [[plain[name], handlers[name]] as const])),
      )
      const unknown = traced(provider.fetch, undefined, undefined)
      const route = (request: Request): Handler | undefined => {
        const handler = provider.route(request)
        return handler && (byHandler.get(handler) ?? handler)
      }
      return Object.freeze({
        ...provider,
        handlers,
        route,
        fetch: (request: Request, connection?: ConnectionInfo) => (route(request) ?? unknown)(request, connection),
        get observerFailures() {
          return provider.observerFailures
        },
      })
    },
    storage: (driver) =>
      observedDriver(driver, (operation) => {
        // Without a span around it, it would be a trace of its own for each look.
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
