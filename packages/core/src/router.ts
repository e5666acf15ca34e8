import type { ClientDirectory } from './directory/clients.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { errorResponse, isWellFormed } from './errors/error-response.ts'
import { isOAuthError, OAuthError } from './errors/oauth-error.ts'
import type { Recorder, Trace } from './events/trace.ts'
import { allowOrigin, isPreflight, preflightHeaders } from './http/cors.ts'
import { noStore } from './http/json-response.ts'
import type { Runtime } from './runtime.ts'

/** What an adapter knows of the connection and the request does not say. */
export interface ConnectionInfo {
  /** The caller's address, as far as the adapter trusts it. */
  readonly clientAddress?: string | undefined
}

/** Answers a request. It never rejects: every failure is a `Response`. */
export type Handler = (request: Request, connection?: ConnectionInfo) => Promise<Response>

export interface RouterDeps {
  readonly clients: ClientDirectory
  readonly realm: string
  readonly recorder: Recorder
  readonly runtime: Runtime
}

const asOAuthError = (thrown: unknown): OAuthError =>
  isOAuthError(thrown) && isWellFormed(thrown)
    ? thrown
    : new OAuthError('server_error', 'The request failed', { reason: 'unhandled_failure', cause: thrown })

/** The path of a URL, without the cost of parsing the whole of it. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const end = url.slice(start).search(/[?#]/u)
  return end < 0 ? url.slice(start) : url.slice(start, start + end)
}

export const notFound = (deps: RouterDeps): Response =>
  errorResponse(
    new OAuthError('invalid_request', 'There is no such endpoint', { reason: 'endpoint_unknown', status: 404 }),
    'validation',
    deps.realm,
    deps.runtime,
  )

/** Everything that is the same for every endpoint: method, the one try/catch, CORS, HEAD, events. */
export function createHandler(endpoint: Endpoint, deps: RouterDeps): Handler {
  const { clients, realm, recorder, runtime } = deps
  const allowed = [...endpoint.methods, ...(endpoint.methods.includes('GET') ? ['HEAD'] : [])]
  const allow = [...allowed, ...(endpoint.cors ? ['OPTIONS'] : [])].join(', ')

  function assertMethod(request: Request): void {
    if (allowed.includes(request.method)) return
    throw new OAuthError('invalid_request', 'The method is not allowed here', {
      reason: 'method_not_allowed',
      status: 405,
      allow,
    })
  }

  /** The origin may read this answer when the client that it is about allows it; where no client is known yet, when any does. */
  async function isAllowed(origin: string, trace: Trace): Promise<boolean> {
    if (trace.client !== undefined) return trace.client.allowedCorsOrigins.includes(origin)
    try {
      return (await clients.isOriginAllowed(origin)) === true
    } catch (cause) {
      recorder.record(trace, { type: 'unhandled_failure', reason: 'cors_lookup_failed', cause })
      return false
    }
  }

  async function answerPreflight(request: Request, trace: Trace): Promise<Response> {
    const origin = request.headers.get('origin')
    const allowedOrigin = origin !== null && (await isAllowed(origin, trace)) ? origin : undefined
    return new runtime.Response(null, { status: 204, headers: preflightHeaders(allowedOrigin) })
  }

  async function withCors(response: Response, request: Request, trace: Trace): Promise<Response> {
    if (!endpoint.cors) return response
    response.headers.set('vary', 'Origin')
    const origin = request.headers.get('origin')
    if (origin !== null && (await isAllowed(origin, trace))) allowOrigin(response.headers, origin)
    return response
  }

  function refuse(thrown: unknown, trace: Trace): { response: Response; error: OAuthError } {
    const error = asOAuthError(thrown)
    const { reason, cause } = error.details
    if (error.code === 'server_error' || error.code === 'temporarily_unavailable') {
      recorder.record(trace, { type: 'unhandled_failure', reason, cause: cause ?? error })
    }
    return { response: errorResponse(error, endpoint.presents, realm, runtime), error }
  }

  const answer = (request: Request, trace: Trace): Promise<Response> => {
    if (endpoint.cors && isPreflight(request)) return answerPreflight(request, trace)
    assertMethod(request)
    return endpoint.handle(request, trace)
  }

  async function serve(request: Request, connection: ConnectionInfo | undefined): Promise<Response> {
    const started = runtime.elapsed()
    const trace = recorder.start(endpoint.name, connection?.clientAddress)
    let response: Response
    let error: OAuthError | undefined
    try {
      response = await answer(request, trace)
    } catch (thrown) {
      ;({ response, error } = refuse(thrown, trace))
    }
    if (!isPreflight(request)) response = await withCors(response, request, trace)
    const outcome = { status: response.status, duration: runtime.elapsed() - started }
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
          },
    )
    if (request.method !== 'HEAD') return response
    return new runtime.Response(null, { status: response.status, headers: response.headers })
  }

  return (request, connection) =>
    // The last resort: whatever else goes wrong, a handler never rejects.
    serve(request, connection).catch(
      () => new runtime.Response('{"error":"server_error"}', { status: 500, headers: noStore }),
    )
}
