import type { EndpointKit, EndpointRequest, Kit, Reply } from '@grantry/core'

/** `none`: the browser also sends the cookie from frames and forms of other sites. Only with an `https` issuer. */
export type SameSite = 'lax' | 'none'

/** A cookie that only this host reads and sets. */
interface BrowserCookie {
  /** `undefined` if the request has none, or two: another host may have set one of them. */
  read(request: EndpointRequest): string | undefined
  /**
   * Returns the value of `Set-Cookie`.
   *
   * @param lifetime seconds for which the browser keeps the cookie. Default: until it is closed
   */
  write(value: string, lifetime?: number): string
  /** Returns the value of `Set-Cookie` that deletes the cookie. */
  clear(): string
}

/**
 * Returns what distinguishes the cookies of issuers on one host: browsers send a cookie to all its ports, and the prefix
 * `__Host-` to all its paths. Empty for the issuer that has neither.
 */
function suffixOf({ issuer, sha256 }: Pick<Kit, 'issuer' | 'sha256'>): string {
  const { pathname, port } = new URL(issuer)
  return pathname === '/' && port === '' ? '' : `-${sha256(issuer).slice(0, 16)}`
}

function cookieFor(
  kit: Pick<Kit, 'issuer' | 'sha256'>,
  name: string,
  value: RegExp,
  sameSite: SameSite,
): BrowserCookie {
  const isSecure = kit.issuer.startsWith('https:')
  const fullName = `${isSecure ? '__Host-' : ''}${name}${suffixOf(kit)}`
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite === 'none' ? 'None' : 'Lax'}${isSecure ? '; Secure' : ''}`
  const prefix = `${fullName}=`
  return {
    read(request) {
      // Some gateways join cookies without the space that browsers send.
      const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trimStart())
      const [cookie, ...more] = pairs.filter((pair) => pair.startsWith(prefix))
      if (cookie === undefined || more.length > 0) return undefined
      const text = cookie.slice(prefix.length).trimEnd()
      return value.test(text) ? text : undefined
    },
    write: (text, lifetime) =>
      `${fullName}=${text}; ${attributes}${lifetime === undefined ? '' : `; Max-Age=${lifetime}`}`,
    clear: () => `${fullName}=; ${attributes}; Max-Age=0`,
  }
}

/** Issuers whose cookies are remembered. */
const maxIssuers = 1000

/**
 * Returns a function that finds a cookie of the provider. Its name has the prefix `__Host-`, which other hosts cannot set,
 * and a suffix for an issuer with a path or a port. With an `http` issuer, as on a development machine, it has no prefix,
 * because some browsers refuse `Secure` without TLS.
 *
 * @param value the form of its values
 * @see RFC 6265bis section 4.1.3.2
 */
export function browserCookie(
  name: string,
  value: RegExp,
  sameSite: SameSite = 'lax',
): (kit: Pick<Kit, 'issuer' | 'sha256'>) => BrowserCookie {
  const byIssuer = new Map<string, BrowserCookie>()
  return (kit) => {
    const known = byIssuer.get(kit.issuer)
    if (known !== undefined) return known
    // A process can have many tenants in its life.
    if (byIssuer.size === maxIssuers) byIssuer.clear()
    const created = cookieFor(kit, name, value, sameSite)
    byIssuer.set(kit.issuer, created)
    return created
  }
}

type Parameters = Readonly<Record<string, string>>

// Browsers withhold cookies from a form of another site. What cannot become a redirect becomes an own page, which sends
// the form again: then they are there.

const cookieOf = browserCookie('grantry-resend', /^[\w-]{43}$/u)

/** Whether an own page has sent the form again, in this browser. A form of another site has no cookie. */
export function isResent({ resent }: Parameters, http: EndpointRequest, kit: EndpointKit): boolean {
  const secret = cookieOf(kit).read(http)
  return secret !== undefined && resent !== undefined && kit.equals(kit.sha256(secret), resent)
}

/** Whether a form claims to be sent again, but has no cookie: another site has sent it, or the browser keeps none. */
export const lacksCookie = ({ resent }: Parameters, http: EndpointRequest, kit: EndpointKit): boolean =>
  resent !== undefined && cookieOf(kit).read(http) === undefined

/** Returns the hidden fields of the page that sends a form again, and the cookies of the reply. */
export function resendForm(
  params: Parameters,
  http: EndpointRequest,
  kit: EndpointKit,
): { readonly fields: Parameters; readonly cookies: readonly string[] } {
  const secret = cookieOf(kit).read(http) ?? kit.randomId()
  return { fields: { ...params, resent: kit.sha256(secret) }, cookies: [cookieOf(kit).write(secret)] }
}

/** A URL that every browser and proxy accepts (bytes). */
const maxUrlLength = 4000

/**
 * Returns a redirect to the same request by GET. Browsers send no session cookie with a form of another site, but with
 * the redirect that follows it. `undefined` if the URL would be too long.
 */
export function asGet(url: string, params: Parameters): Reply | undefined {
  const location = `${url}?${new URLSearchParams(params)}`
  return location.length <= maxUrlLength ? { location } : undefined
}

/** A header cannot contain other characters. Browsers encode them in the same way. */
const asciiUri = /^[\x21-\x7E]+$/u
export const asciiUriOf = (uri: string): string => (asciiUri.test(uri) ? uri : new URL(uri).href)

/** Adds parameters to the query of a registered URI. */
export const withQuery = (uri: string, parameters: Parameters): string =>
  `${asciiUriOf(uri)}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`
