import type { ClientDirectory } from './directory/clients.ts'
import type { Endpoint, EndpointName } from './endpoints/endpoint.ts'
import { errorAnswer, isWellFormed } from './errors/error-answer.ts'
import { isOAuthError, OAuthError } from './errors/oauth-error.ts'
import { describeCause } from './events/cause.ts'
import type { Recorder, Trace } from './events/trace.ts'
import { openTraceContext, type TraceContext, traceparentOf } from './events/trace-context.ts'
import { type Answer, noStore } from './http/answer.ts'
import {
  isPreflight,
  judgePreflight,
  originFact,
  originHeaders,
  type PreflightPermission,
  type PreflightRefusal,
  preflightHeaders,
} from './http/cors.ts'
import type { MaybePromise } from './json.ts'
import type { Runtime } from './runtime.ts'

/** What an adapter knows of the connection and the request does not say. */
export interface ConnectionInfo {
  /** The caller's address, as far as the adapter trusts it. */
  readonly clientAddress?: string | undefined
  /** The span that a tracer of the host's has opened for this request. It then counts instead of the `traceparent` header. */
  readonly traceContext?: TraceContext | undefined
}

/** Answers a request. It never rejects: every failure is a `Response`. */
export type Handler = (request: Request, connection?: ConnectionInfo) => Promise<Response>

export interface RouterDeps {
  readonly clients: ClientDirectory
  readonly realm: string
  readonly recorder: Recorder
  readonly runtime: Runtime
  /** Whether answers carry `x-request-id` and `traceparent`. */
  readonly traceHeaders: boolean
}

const asOAuthError = (thrown: unknown): OAuthError =>
  isOAuthError(thrown) && isWellFormed(thrown)
    ? thrown
    : new OAuthError('server_error', 'The request failed', { reason: 'unhandled_failure', cause: thrown })

/** The path of a URL, without the cost of parsing the whole of it. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const query = url.indexOf('?', start)
  const fragment = url.indexOf('#', start)
  if (query < 0) return fragment < 0 ? url.slice(start) : url.slice(start, fragment)
  return url.slice(start, fragment < 0 ? query : Math.min(query, fragment))
}

const responseOf = ({ status, headers, body }: Answer, runtime: Runtime): Response =>
  new runtime.Response(body, { status, headers })

const lastResort: Answer = { status: 500, headers: noStore, body: '{"error":"server_error"}' }

// OpenTelemetry's rule for `http.request.method`: a stranger's word is no value of a log or a label.
const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])
export const methodOf = ({ method }: Pick<Request, 'method'>): string => (knownMethods.has(method) ? method : '_OTHER')

/** A cached document would tell everybody the id of one request. Not among the headers that pages of other origins may read. */
function withTrace(answered: Answer, { id, context }: Trace): Answer {
  if (context === undefined || answered.headers['cache-control'] !== 'no-store') return answered
  const headers = { ...answered.headers, 'x-request-id': id, traceparent: traceparentOf(context) }
  return { ...answered, headers }
}

/** An endpoint, or what stands for all other paths. */
type Routed = Omit<Endpoint, 'name'> & { readonly name: EndpointName | 'unknown' }

/**
 * Handles the requests that no endpoint handles: 404 for every method. The event does not repeat the path, which may hold a token.
 *
 * @param hintFor what the caller may have meant by this path, in words of ours
 */
export function createNotFound(deps: RouterDeps, hintFor: (path: string) => string): Handler {
  const unknownEndpoint: Routed = {
    name: 'unknown',
    methods: [],
    presents: 'validation',
    cors: 'none',
    async handle({ url }) {
      throw new OAuthError('invalid_request', `There is no such endpoint${hintFor(pathOf(url))}`, {
        reason: 'endpoint_unknown',
        status: 404,
      })
    },
  }
  return createHandler(unknownEndpoint, deps)
}

/** Everything that is the same for every endpoint: method, the one try/catch, CORS, HEAD, events. */
export function createHandler(endpoint: Routed, deps: RouterDeps): Handler {
  const { clients, realm, recorder, runtime, traceHeaders } = deps
  const traced = recorder.observed || traceHeaders
  const allowed = [...endpoint.methods, ...(endpoint.methods.includes('GET') ? ['HEAD'] : [])]
  const allow = [...allowed, ...(endpoint.cors === 'none' ? [] : ['OPTIONS'])].join(', ')

  function assertMethod(request: Request): void {
    if (allowed.includes(request.method) || endpoint.name === 'unknown') return
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
      const port = 'clients.isOriginAllowed'
      const failed = { reason: 'cors_lookup_failed', port, cause: describeCause(cause) }
      recorder.record(trace, { type: 'unhandled_failure', ...failed })
      return false
    }
  }

  async function permissionFor(request: Request, trace: Trace): Promise<PreflightPermission | PreflightRefusal> {
    const origin = endpoint.cors === 'public' ? '*' : request.headers.get('origin')
    if (origin === null) return 'origin_missing'
    if (endpoint.cors !== 'public' && !(await isAllowed(origin, trace))) return 'origin_not_allowed'
    return judgePreflight(request, origin, allowed)
  }

  async function answerPreflight(request: Request, trace: Trace): Promise<Answer> {
    const permission = await permissionFor(request, trace)
    if (typeof permission !== 'string') {
      return { status: 204, headers: { ...preflightHeaders, ...permission }, body: null }
    }
    recorder.record(trace, { type: 'preflight_refused', reason: permission, ...originFact(request) })
    return { status: 204, headers: preflightHeaders, body: null }
  }

  function withCors({ status, headers, body }: Answer, request: Request, trace: Trace): MaybePromise<Answer> {
    // No `Vary`: everybody gets the same document.
    if (endpoint.cors === 'public') return { status, headers: { ...headers, ...originHeaders('*') }, body }
    const origin = request.headers.get('origin')
    if (origin === null) return { status, headers: { ...headers, vary: 'Origin' }, body }
    return isAllowed(origin, trace).then((allowed) => {
      const more = allowed ? originHeaders(origin) : undefined
      return { status, headers: { ...headers, vary: 'Origin', ...more }, body }
    })
  }

  function refuse(thrown: unknown, trace: Trace): { answered: Answer; error: OAuthError } {
    const error = asOAuthError(thrown)
    const { reason, port, cause } = error.details
    if (error.code === 'server_error' || error.code === 'temporarily_unavailable') {
      const failed = port === undefined ? { reason } : { reason, port }
      recorder.record(trace, {
        type: 'unhandled_failure',
        ...failed,
        cause: describeCause('cause' in error.details ? cause : error),
      })
    }
    return { answered: errorAnswer(error, endpoint.presents, realm), error }
  }

  const answer = (request: Request, trace: Trace): Promise<Answer> => {
    if (endpoint.cors !== 'none' && isPreflight(request)) return answerPreflight(request, trace)
    assertMethod(request)
    return endpoint.handle(request, trace)
  }

  function recordOutcome(
    trace: Trace,
    request: Request,
    status: number,
    started: number,
    error: OAuthError | undefined,
  ): void {
    const outcome = { httpMethod: methodOf(request), status, duration: runtime.elapsed() - started }
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
  }

  async function serve(request: Request, connection: ConnectionInfo | undefined): Promise<Answer> {
    const started = recorder.observed ? runtime.elapsed() : 0
    const context = traced ? (connection?.traceContext ?? openTraceContext(request.headers, runtime)) : undefined
    const trace = recorder.start(endpoint.name, connection?.clientAddress, context)
    let answered: Answer
    let error: OAuthError | undefined
    try {
      answered = await answer(request, trace)
    } catch (thrown) {
      ;({ answered, error } = refuse(thrown, trace))
    }
    if (endpoint.cors !== 'none' && !isPreflight(request)) answered = await withCors(answered, request, trace)
    if (traceHeaders) answered = withTrace(answered, trace)
    if (recorder.observed) recordOutcome(trace, request, answered.status, started, error)
    return request.method === 'HEAD' ? { ...answered, body: null } : answered
  }

  function report(thrown: unknown, connection: ConnectionInfo | undefined): void {
    try {
      const trace = recorder.start(endpoint.name, connection?.clientAddress)
      recorder.record(trace, { type: 'unhandled_failure', reason: 'router_failed', cause: describeCause(thrown) })
    } catch {
      // The runtime of the host makes no random bytes. Its failure shows as this response.
    }
  }

  return async (request, connection) => {
    try {
      return responseOf(await serve(request, connection), runtime)
    } catch (thrown) {
      // The last resort: whatever else goes wrong, a handler never rejects.
      report(thrown, connection)
      return responseOf(lastResort, runtime)
    }
  }
}
