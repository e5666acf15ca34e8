import { createCors } from './endpoints/cors.ts'
import type { HandleRequest } from './endpoints/pipeline.ts'
import type { PresentError } from './endpoints/present-error.ts'
import type { ErrorRecipient } from './errors/error-codes.ts'
import { asOAuthError, errorResponse } from './errors/error-response.ts'
import { OAuthError } from './errors/oauth-error.ts'
import { describeCause } from './events/cause.ts'
import type { Trace } from './events/recorder.ts'
import { traceparentOf } from './events/trace-context.ts'
import type { ConnectionInfo, Handler } from './http/connection.ts'
import { type CorsPolicy, isPreflight } from './http/cors-headers.ts'
import { isNavigation } from './http/navigation.ts'
import { jsonHeaders, type PlainResponse, withHeaders } from './http/plain-response.ts'
import { pathOf } from './parse-url.ts'
import type { EndpointResponse } from './parts/reply.ts'
import type { Runtime } from './runtime.ts'
import type { Services } from './services.ts'

export interface RouterDeps extends Pick<Services, 'clients' | 'recorder' | 'runtime' | 'errors'> {
  /** Whether responses include `x-request-id` and `traceparent`. */
  readonly traceHeaders: boolean
  /**
   * Shows browsers a page for a path without an endpoint, a method that it does not have, or a tenant that cannot be
   * opened.
   */
  readonly presentUnknown?: PresentError | undefined
}

function responseOf({ status, headers, body, cookies }: PlainResponse, runtime: Runtime): Response {
  const response = new runtime.Response(body, { status, headers })
  if (cookies !== undefined) for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

const lastResort: PlainResponse = { status: 500, headers: jsonHeaders, body: '{"error":"server_error"}' }

// As OpenTelemetry does for `http.request.method`: arbitrary methods from callers must not become log or label values.
const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])
export const methodOf = ({ method }: Pick<Request, 'method'>): string => (knownMethods.has(method) ? method : '_OTHER')

/**
 * Adds the trace headers, except to cacheable responses: a cache would send the id of one request to other callers.
 * CORS does not expose these headers.
 */
function withTrace(response: PlainResponse, { id, context }: Trace): PlainResponse {
  if (context === undefined || response.headers['cache-control'] !== 'no-store') return response
  return withHeaders(response, { 'x-request-id': id, traceparent: traceparentOf(context) })
}

/** An endpoint, or the handler of all other paths. */
export interface Route {
  /** `unknown` for all other paths. */
  readonly name: string
  readonly methods: readonly string[]
  /** The recipient, which determines the status and headers of errors. */
  readonly recipient: ErrorRecipient
  /** Which other origins can read its responses. */
  readonly cors: CorsPolicy
  readonly handle: HandleRequest
  /** Shows refusals to users. Without it, they are JSON. */
  readonly presentError?: PresentError | undefined
  /** Makes errors problems (RFC 9457). */
  readonly toProblem?: ((error: OAuthError, response: PlainResponse) => PlainResponse) | undefined
}

/**
 * Creates a handler that refuses every request, whatever its method. The event does not contain the path, which may include a
 * token.
 *
 * @param refusal returns the error. Its message must not repeat the path.
 */
export function createRefusing(deps: RouterDeps, refusal: (path: string) => OAuthError): Handler {
  const unknownEndpoint: Route = {
    name: 'unknown',
    methods: [],
    recipient: 'validation',
    cors: 'none',
    async handle({ url }) {
      throw refusal(pathOf(url))
    },
  }
  return createHandler(unknownEndpoint, deps)
}

/** @param hintFor returns a hint for the error description. It must not repeat the path. */
export const createNotFound = (deps: RouterDeps, hintFor: (path: string) => string): Handler =>
  createRefusing(
    deps,
    (path) =>
      new OAuthError('invalid_request', `There is no such endpoint${hintFor(path)}`, {
        reason: 'endpoint_unknown',
        status: 404,
      }),
  )

/** The reason of the refusal. The event of the tenant has the cause. */
const unavailable = 'tenant_unavailable'

export const createUnavailable = (deps: RouterDeps): Handler =>
  createRefusing(
    deps,
    () =>
      new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
        reason: unavailable,
        retryAfter: 1,
      }),
  )

/** Refusals of the router itself. Those of an endpoint for programs stay JSON. */
const shownReasons: ReadonlySet<string> = new Set(['endpoint_unknown', 'method_not_allowed', unavailable])

/** Creates the functions that record how requests to an endpoint end. */
function createEnding({ recorder, runtime }: Pick<RouterDeps, 'recorder' | 'runtime'>) {
  /** Records the cause of a failure that is not the caller's fault. */
  function recordFailure(error: OAuthError, trace: Trace): void {
    if (error.code !== 'server_error' && error.code !== 'temporarily_unavailable') return
    const { reason, port, cause } = error.details
    if (reason === unavailable) return
    const failed = port === undefined ? { reason } : { reason, port }
    recorder.record(trace, {
      type: 'unhandled_failure',
      ...failed,
      cause: describeCause('cause' in error.details ? cause : error),
    })
  }

  function recordOutcome(
    trace: Trace,
    request: Request,
    status: number,
    started: number,
    error: OAuthError | undefined,
  ): void {
    const outcome = { httpMethod: methodOf(request), status, duration: runtime.elapsed() - started }
    const named = trace.client === undefined ? error?.details.clientId : undefined
    recorder.record(
      trace,
      error === undefined
        ? { type: 'endpoint_succeeded', ...outcome }
        : {
            type: 'endpoint_failed',
            ...outcome,
            error: error.code,
            reason: error.details.reason,
            description: error.message,
            ...(error.details.detail !== undefined && { detail: error.details.detail }),
            ...(named !== undefined && { clientId: named }),
          },
    )
  }

  return { recordFailure, recordOutcome }
}

/**
 * Wraps an endpoint with the parts that are common to all endpoints: method check, error handling, CORS, HEAD and
 * events.
 */
export function createHandler(endpoint: Route, deps: RouterDeps): Handler {
  const { errors, recorder, runtime, traceHeaders, presentUnknown } = deps
  const { recordFailure, recordOutcome } = createEnding(deps)
  const traced = recorder.observed || traceHeaders
  const allowed = [...endpoint.methods, ...(endpoint.methods.includes('GET') ? ['HEAD'] : [])]
  const { preflightResponse, withCors } = createCors(endpoint.cors, allowed, deps)
  const allow = [...allowed, ...(endpoint.cors === 'none' ? [] : ['OPTIONS'])].join(', ')

  function assertMethod(request: Request): void {
    if (allowed.includes(request.method) || endpoint.name === 'unknown') return
    throw new OAuthError('invalid_request', 'The method is not allowed', {
      reason: 'method_not_allowed',
      status: 405,
      allow,
    })
  }

  const dispatch = (request: Request, trace: Trace): Promise<EndpointResponse> => {
    if (endpoint.cors !== 'none' && isPreflight(request)) return preflightResponse(request, trace)
    assertMethod(request)
    return endpoint.handle(request, trace)
  }

  async function refusalOf(error: OAuthError, request: Request, trace: Trace): Promise<PlainResponse> {
    try {
      const isShown = shownReasons.has(error.details.reason) && isNavigation(request)
      const present = endpoint.presentError ?? (isShown ? presentUnknown : undefined)
      const presented = await present?.(error, request, trace)
      if (presented !== undefined) return presented
    } catch (cause) {
      recorder.record(trace, { type: 'unhandled_failure', reason: 'error_not_presented', cause: describeCause(cause) })
    }
    const response = errorResponse(error, endpoint.recipient, errors, trace.scheme)
    return endpoint.toProblem?.(error, response) ?? response
  }

  async function serve(request: Request, connection: ConnectionInfo | undefined): Promise<PlainResponse> {
    const started = recorder.recordsEnds ? runtime.elapsed() : 0
    const context = traced ? (connection?.traceContext ?? recorder.openTrace(request.headers)) : undefined
    const trace = recorder.start(endpoint.name, connection, context)
    let response: PlainResponse
    let error: OAuthError | undefined
    try {
      const dispatched = await dispatch(request, trace)
      response = dispatched
      error = dispatched.error
    } catch (thrown) {
      error = asOAuthError(thrown, errors)
      response = await refusalOf(error, request, trace)
    }
    if (error !== undefined) recordFailure(error, trace)
    if (endpoint.cors !== 'none' && !isPreflight(request)) response = await withCors(response, request, trace)
    if (traceHeaders) response = withTrace(response, trace)
    if (recorder.recordsEnds) recordOutcome(trace, request, response.status, started, error)
    return request.method === 'HEAD' ? { ...response, body: null } : response
  }

  function report(thrown: unknown, connection: ConnectionInfo | undefined): void {
    try {
      const trace = recorder.start(endpoint.name, connection)
      recorder.record(trace, { type: 'unhandled_failure', reason: 'router_failed', cause: describeCause(thrown) })
    } catch {
      // The host's `randomBytes` fails. The 500 response is the only report.
    }
  }

  return async (request, connection) => {
    try {
      return responseOf(await serve(request, connection), runtime)
    } catch (thrown) {
      // Last resort: a handler never rejects.
      report(thrown, connection)
      return responseOf(lastResort, runtime)
    }
  }
}
