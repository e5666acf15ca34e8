/**
 * A response as plain data. The router can add headers before it creates the `Response`, which is cheaper than changing
 * the headers of a `Response`.
 */
export interface PlainResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** One `Set-Cookie` header for each. */
  readonly cookies?: readonly string[] | undefined
}

const commonHeaders = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } as const

/** Headers of every `/connect/*` response, including errors and preflights: wire contract, section 1. */
export const noStoreHeaders = Object.freeze({
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
})

export const jsonHeaders = Object.freeze({ ...commonHeaders, ...noStoreHeaders })

/**
 * Seconds for which discovery and keys can be cached: long enough to reduce load, short enough for clients to see a new
 * key before it signs.
 */
export const documentLifetime = 300

/** A cacheable JSON response, such as the discovery document. */
export const cacheableResponse = (document: unknown, maxAge: number): PlainResponse => ({
  status: 200,
  headers: { ...commonHeaders, 'cache-control': `public, max-age=${maxAge}` },
  body: JSON.stringify(document),
})

interface JsonReply {
  readonly json?: unknown
  readonly maxAge?: number | undefined
}

/**
 * Converts the replies of an endpoint of the core: JSON, which can be cacheable, or nothing. Other replies, and mistakes in
 * them, come from plugins only.
 */
export function createJsonResponse(): (reply: JsonReply) => PlainResponse {
  const documents = new WeakMap<JsonReply, PlainResponse>()
  return (reply) => {
    const { json, maxAge } = reply
    if (json === undefined) return { status: 200, headers: noStoreHeaders, body: null }
    if (maxAge === undefined) return { status: 200, headers: jsonHeaders, body: JSON.stringify(json) }
    const response = documents.get(reply) ?? cacheableResponse(json, maxAge)
    documents.set(reply, response)
    return response
  }
}

/**
 * Returns the response with more headers.
 *
 * Uses `Object.assign`, not spread: V8 takes 3 microseconds to spread a frozen object of headers and 0.2 to assign
 * (Node.js 20).
 */
export const withHeaders = (
  { status, headers, body, cookies }: PlainResponse,
  more: Readonly<Record<string, string>>,
): PlainResponse => ({ status, headers: Object.assign({}, headers, more), body, cookies })

const varyingHeaders = new WeakMap<Readonly<Record<string, string>>, Readonly<Record<string, string>>>()

/** The value of `Vary` for a response that depends on the origin too. */
export const varyWithOrigin = ({ headers: { vary } }: PlainResponse): string =>
  vary === undefined ? 'Origin' : `${vary}, Origin`

/**
 * Returns the response with `Vary: Origin`. Shared headers stay shared, which lets a runtime convert them once.
 */
export function varying(response: PlainResponse): PlainResponse {
  if (!Object.isFrozen(response.headers)) return withHeaders(response, { vary: varyWithOrigin(response) })
  let headers = varyingHeaders.get(response.headers)
  if (headers === undefined) {
    headers = Object.freeze({ ...response.headers, vary: 'Origin' })
    varyingHeaders.set(response.headers, headers)
  }
  return { status: response.status, headers, body: response.body, cookies: response.cookies }
}
