import type { EndpointKit, EndpointRequest, Reply } from '@grantry/core'
import { browserCookie } from './browser-cookie.ts'

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
