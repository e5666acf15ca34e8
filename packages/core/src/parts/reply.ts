import { isLocation } from '../directory/redirect-uri.ts'
import type { ErrorRecipient } from '../errors/error-codes.ts'
import { type ErrorContext, errorResponse, isWellFormed } from '../errors/error-response.ts'
import { isOAuthError, type OAuthError } from '../errors/oauth-error.ts'
import { cacheableResponse, jsonHeaders, noStoreHeaders, type PlainResponse } from '../http/plain-response.ts'
import type { Json } from '../types.ts'
import { type HtmlSources, htmlHeaders } from './html-policy.ts'

/**
 * The response of an endpoint, as data. A malformed reply is a defect of the plugin: the caller receives `server_error`.
 * Refuse a request by throwing `kit.refuse(…)`.
 */
export interface Reply {
  /** Default: 303 with `location`, otherwise 200. 301, 307 and 308 are not possible (RFC 9700 section 4.12). */
  readonly status?: 200 | 201 | 202 | 204 | 302 | 303 | undefined
  readonly json?: Json | undefined
  /** An HTML page. The core adds a content security policy that allows forms to `'self'` and nothing else. */
  readonly html?: string | undefined
  /** Additional sources of the page. */
  readonly sources?: HtmlSources | undefined
  /**
   * An absolute URI, which can have a fragment: `https`, `http`, or a private-use scheme with a dot (RFC 8252 section
   * 7.1). Compare it with a registered URI first: the core cannot know which hosts the plugin trusts.
   */
  readonly location?: string | undefined
  /**
   * Values of `Set-Cookie` (RFC 6265 section 4.1.1), with any attributes except `Domain`: `a=b; Path=/; HttpOnly; Secure`.
   * Encode what comes from a caller.
   */
  readonly cookies?: readonly string[] | undefined
  /** Seconds for which any cache may keep the JSON. For the caller `anyone` only. A frozen reply is serialized once. */
  readonly maxAge?: number | undefined
  /**
   * The refusal that `html` or `location` presents to a user. With `html`, it determines the status, unless `status` is
   * 200: a page that takes the refusal to a client, as a redirect does. Events contain its code and reason.
   */
  readonly error?: OAuthError | undefined
  /** Of JSON: validators, links, and `attachment; filename="a.json"` (RFC 9110 section 8.8.3, RFC 8288, RFC 6266). */
  readonly headers?: Readonly<Partial<Record<'etag' | 'link' | 'content-disposition', string | undefined>>> | undefined
}

const maxCookieLength = 4096

// RFC 6265 section 4.1.1: cookie-pair. Its octets exclude control characters, spaces, quotes, commas, semicolons and
// backslashes, so a value cannot end the header or add an attribute.
const cookiePair = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+=(?:"[!#-+\--:<-[\]-~]*"|[!#-+\--:<-[\]-~]*)$/u

const cookieAttributes: readonly RegExp[] = [
  /^(?:Secure|HttpOnly|Partitioned)$/iu,
  /^SameSite=(?:Strict|Lax|None)$/iu,
  /^Path=\/[!-:<-~]*$/iu,
  /^Max-Age=-?\d{1,10}$/iu,
  /^Expires=[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/iu,
]

/**
 * Whether a text is a well-formed value of `Set-Cookie`, with attributes that browsers know, each at most once. `Domain` is
 * not allowed: it would send the cookie to every subdomain.
 */
export function isSetCookie(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > maxCookieLength) return false
  const [first = '', ...rest] = text.split('; ')
  const names = rest.map((attribute) => attribute.replace(/=.*/u, '').toLowerCase())
  return (
    cookiePair.test(first) &&
    rest.every((attribute) => cookieAttributes.some((form) => form.test(attribute))) &&
    new Set(names).size === names.length
  )
}

/** A response, and the refusal that it presents to a user. */
export interface EndpointResponse extends PlainResponse {
  readonly error?: OAuthError | undefined
}

/** Without a challenge: for one, a browser asks its user for a password, and does not show the page. */
function pageRefusal({ status, headers }: PlainResponse): Pick<PlainResponse, 'status' | 'headers'> {
  const { 'www-authenticate': _challenge, ...others } = headers
  return { status: status === 401 ? 400 : status, headers: others }
}

/** Converts the replies of one endpoint. Replies are not trusted: a malformed one is a defect. */
export type ToResponse = (reply: Reply) => EndpointResponse

const members: ReadonlySet<string> = new Set([
  'status',
  'json',
  'html',
  'sources',
  'location',
  'cookies',
  'maxAge',
  'error',
  'headers',
] satisfies readonly (keyof Reply)[])

const plainStatuses: ReadonlySet<unknown> = new Set([undefined, 200, 201, 202, 204])
// RFC 9700 section 4.12: 307 and 308 would send the form, with the user's password, to the next site.
const locationStatuses: ReadonlySet<unknown> = new Set([undefined, 201, 302, 303])

const maxMaxAge = 31_536_000

// RFC 9110 section 8.8.3 and RFC 8288 section 3: visible ASCII characters and spaces, so that a value cannot end the header.
const replyHeaders: Readonly<Record<string, RegExp>> = {
  etag: /^(?:W\/)?"[!#-~]{1,200}"$/u,
  link: /^<[!#-;=?-~]{1,4000}>; rel="[a-z]{1,20}"$/u,
  'content-disposition': /^attachment; filename="[\w.-]{1,100}"$/u,
}

const defect = (problem: string): TypeError => new TypeError(`A reply ${problem}`)

function jsonOf(json: unknown): string {
  const text: unknown = JSON.stringify(json)
  if (typeof text !== 'string') throw defect('has a value of json that is not JSON')
  return text
}

function assertContent({ status, json, html, sources, location }: Reply): void {
  if (html !== undefined && typeof html !== 'string') throw defect('has html that is not a string')
  if (html !== undefined && (json !== undefined || location !== undefined)) {
    throw defect('has html, and also json or location')
  }
  if (json !== undefined && location !== undefined && status !== 201) {
    throw defect('has both json and location, which only status 201 allows')
  }
  if (!(location === undefined ? plainStatuses : locationStatuses).has(status)) throw defect('has an unknown status')
  if (status === 204 && (json !== undefined || html !== undefined)) throw defect('with status 204 has a body')
  if (sources !== undefined && html === undefined) throw defect('has sources but no html')
  if (location !== undefined && !(typeof location === 'string' && isLocation(location))) {
    throw defect('has a location that is not an absolute URI, or has a scheme that is not allowed')
  }
}

function assertHeaders({ headers, html, location, status }: Reply): void {
  if (headers === undefined) return
  const isForm = ([name, value]: readonly [string, unknown]): boolean =>
    value === undefined || (Object.hasOwn(replyHeaders, name) && replyHeaders[name]?.test(String(value)) === true)
  const isRedirect = location !== undefined && status !== 201
  if (typeof headers !== 'object' || headers === null || !Object.entries(headers).every(isForm)) {
    throw defect('has headers other than a well-formed etag, link and content-disposition')
  }
  if (html !== undefined || isRedirect) throw defect('has headers, which belong to JSON')
}

function assertCacheable({ status, json, location, cookies, maxAge }: Reply, isPublic: boolean): void {
  if (maxAge === undefined) return
  const isLifetime = Number.isSafeInteger(maxAge) && maxAge > 0 && maxAge <= maxMaxAge
  const isDocument = json !== undefined && status === undefined && cookies === undefined && location === undefined
  if (!isLifetime || !isDocument || !isPublic) {
    throw defect('has an invalid maxAge, or one that is not for public JSON without cookies')
  }
}

function assertError({ status, html, location, error }: Reply, context: ErrorContext): void {
  if (error === undefined) return
  if (!isOAuthError(error) || !isWellFormed(error, context)) throw defect('has a malformed error')
  // A page with status 200 takes the refusal to the client, as a redirect does.
  const isDelivered = html !== undefined && status === 200
  if ((status !== undefined && !isDelivered) || (html === undefined && location === undefined)) {
    throw defect('has an error and also a status, or neither html nor location; throw the error instead')
  }
}

const definedIn = (headers: Reply['headers']) =>
  Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value !== undefined))

export function createToResponse(deps: {
  readonly errors: ErrorContext
  /** Determines the status of errors. */
  readonly recipient: ErrorRecipient
  /** Whether responses can be cached. */
  readonly isPublic: boolean
}): ToResponse {
  const { errors, recipient, isPublic } = deps
  const documents = new WeakMap<Reply, PlainResponse>()

  function special(original: Reply): EndpointResponse {
    // A copy: each member is read once.
    const reply = { ...original }
    const { status, json, html, sources, location, cookies, maxAge, error, headers: more } = reply
    assertContent(reply)
    assertHeaders(reply)
    assertCacheable(reply, isPublic)
    assertError(reply, errors)
    if (cookies !== undefined && !(Array.isArray(cookies) && cookies.every(isSetCookie))) {
      throw defect('has a malformed cookie')
    }
    if (maxAge !== undefined) {
      const response = cacheableResponse(json, maxAge)
      if (Object.isFrozen(original)) documents.set(original, response)
      return response
    }
    const isRefusal = html !== undefined && error !== undefined && status === undefined
    const refusal = isRefusal ? pageRefusal(errorResponse(error, recipient, errors)) : undefined
    const usualHeaders =
      html !== undefined ? htmlHeaders(sources, errors.realm) : json === undefined ? noStoreHeaders : jsonHeaders
    // Otherwise the shared object, which a runtime converts only once.
    const headers =
      refusal === undefined && location === undefined && more === undefined
        ? usualHeaders
        : Object.assign({}, refusal?.headers, usualHeaders, location !== undefined && { location }, definedIn(more))
    const body = html ?? (json === undefined ? null : jsonOf(json))
    const usual = location === undefined ? 200 : 303
    return { status: refusal?.status ?? status ?? usual, headers, body, cookies, error }
  }

  return (reply) => {
    if (typeof reply !== 'object' || reply === null) throw defect('is not an object')
    let isJson = true
    for (const member in reply) {
      if (!members.has(member)) throw defect(`has the unknown member ${member}`)
      if (member !== 'json') isJson = false
    }
    if (isJson && reply.json !== undefined) return { status: 200, headers: jsonHeaders, body: jsonOf(reply.json) }
    return documents.get(reply) ?? special(reply)
  }
}
