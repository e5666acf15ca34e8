import { noStoreHeaders } from './plain-response.ts'

/**
 * Which origins can read the responses of an endpoint: none, those that a client allows, or, for public documents, all.
 */
export type CorsPolicy = 'none' | 'clients' | 'public'

/** Why a preflight is refused: the reason of the event `preflight_refused`. */
export type PreflightRefusal = 'origin_missing' | 'origin_not_allowed' | 'method_not_allowed' | 'headers_malformed'
export type PreflightPermission = Readonly<Record<string, string>>

/** The response headers that pages of other origins can always read. */
export const exposedHeaders: readonly string[] = ['www-authenticate', 'retry-after']

export const isPreflight = (request: Request): boolean =>
  request.method === 'OPTIONS' && request.headers.has('access-control-request-method')

/**
 * The headers that let an origin, or every origin (`*`), read the response. Without `Access-Control-Allow-Credentials`,
 * so that a page of another origin cannot use the cookies of an endpoint.
 *
 * @param exposed the names of the headers that the page can read, separated by commas
 */
export const originHeaders = (origin: string, exposed: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposed,
})

// RFC 9110 section 5.6.2: token.
const headerName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/u
const maxHeaderListLength = 1024
const maxHeaders = 50

/**
 * Normalizes `Access-Control-Request-Headers` for the response; returns `undefined` if the list is malformed or too
 * long.
 */
function requestedHeaders(list: string): string | undefined {
  if (list.length > maxHeaderListLength) return undefined
  const names = list.split(',').map((name) => name.trim())
  return names.length <= maxHeaders && names.every((name) => headerName.test(name)) ? names.join(', ') : undefined
}

/**
 * Checks the method and the headers of a preflight. An allowed origin may send every header that it requests:
 * `Authorization` is the only header that grants access, and an allowlist would miss headers that pages and libraries
 * add, such as `traceparent`.
 *
 * @param origin an allowed origin, or `*`
 * @param methods the methods of the endpoint
 * @see Fetch standard, section 4.8 (CORS-preflight fetch)
 */
export function checkPreflight(
  request: Request,
  origin: string,
  methods: readonly string[],
): PreflightPermission | PreflightRefusal {
  if (!methods.includes(request.headers.get('access-control-request-method') ?? '')) return 'method_not_allowed'
  const list = request.headers.get('access-control-request-headers')
  const names = list ? requestedHeaders(list) : ''
  if (names === undefined) return 'headers_malformed'
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods.join(', '),
    ...(names !== '' && { 'access-control-allow-headers': names }),
    'access-control-max-age': '600',
  }
}

/** The headers of every preflight response. The result depends on the three request headers in `Vary`. */
export const preflightHeaders = Object.freeze({
  ...noStoreHeaders,
  vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
})

const maxOriginLength = 300

/** The origin for an event, if it is well-formed: arbitrary text from a caller must not reach a log. */
export function originFact(request: Request): { readonly origin?: string } {
  const origin = request.headers.get('origin')
  const isOrigin =
    origin !== null &&
    origin.length <= maxOriginLength &&
    /^(?:https?|capacitor|ionic|tauri):\/\/[\w.\-[\]:]+$/u.test(origin)
  return isOrigin ? { origin } : {}
}
