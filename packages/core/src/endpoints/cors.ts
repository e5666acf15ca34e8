import { describeCause } from '../events/cause.ts'
import type { Trace } from '../events/recorder.ts'
import {
  type CorsPolicy,
  checkPreflight,
  exposedHeaders,
  originFact,
  originHeaders,
  type PreflightPermission,
  type PreflightRefusal,
  preflightHeaders,
} from '../http/cors-headers.ts'
import { type PlainResponse, varying, varyWithOrigin, withHeaders } from '../http/plain-response.ts'
import type { Services } from '../services.ts'

/** Which other origins can read the responses of an endpoint. */
export interface Cors {
  preflightResponse(request: Request, trace: Trace): Promise<PlainResponse>
  /** Adds the headers of CORS to a response. */
  withCors(response: PlainResponse, request: Request, trace: Trace): Promise<PlainResponse>
}

/** @param allowed the methods of the endpoint. */
export function createCors(
  policy: CorsPolicy,
  allowed: readonly string[],
  { clients, errors, recorder }: Pick<Services, 'clients' | 'errors' | 'recorder'>,
): Cors {
  const exposed = [...exposedHeaders, ...errors.exposedHeaders].join(', ')

  /**
   * Whether the origin may read this response: if the client of the request allows it, or, with no client known, if any
   * client does.
   */
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
    const origin = policy === 'public' ? '*' : request.headers.get('origin')
    if (origin === null) return 'origin_missing'
    if (policy !== 'public' && !(await isAllowed(origin, trace))) return 'origin_not_allowed'
    return checkPreflight(request, origin, allowed)
  }

  async function preflightResponse(request: Request, trace: Trace): Promise<PlainResponse> {
    const permission = await permissionFor(request, trace)
    if (typeof permission !== 'string') {
      return { status: 204, headers: { ...preflightHeaders, ...permission }, body: null }
    }
    recorder.record(trace, { type: 'preflight_refused', reason: permission, ...originFact(request) })
    return { status: 204, headers: preflightHeaders, body: null }
  }

  async function withCors(response: PlainResponse, request: Request, trace: Trace): Promise<PlainResponse> {
    // No `Vary`: the document is the same for every origin.
    if (policy === 'public') return withHeaders(response, originHeaders('*', exposed))
    const origin = request.headers.get('origin')
    if (origin === null) return varying(response)
    const more = (await isAllowed(origin, trace)) ? originHeaders(origin, exposed) : undefined
    return withHeaders(response, { vary: varyWithOrigin(response), ...more })
  }

  return { preflightResponse, withCors }
}
