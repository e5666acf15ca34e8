import type { EndpointKit, EndpointRequest } from '@grantry/core'
import { browserCookie } from '../shared/browser-cookie.ts'
import type { AuthorizationParameters } from './parameters.ts'

// Browsers withhold cookies from a form of another site. What cannot become a redirect becomes an own page, which sends
// the form again: then they are there.

const cookieOf = browserCookie('grantry-resend', /^[\w-]{43}$/u)

/** Whether an own page has sent the form again, in this browser. A form of another site has no cookie. */
export function isResent({ resent }: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): boolean {
  const secret = cookieOf(kit).read(http)
  return secret !== undefined && resent !== undefined && kit.equals(kit.sha256(secret), resent)
}

/** Whether a form claims to be sent again, but has no cookie: another site has sent it, or the browser keeps none. */
export const lacksCookie = ({ resent }: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): boolean =>
  resent !== undefined && cookieOf(kit).read(http) === undefined

/** Returns the hidden fields of the page that sends a form again, and the cookies of the reply. */
export function resendForm(
  params: AuthorizationParameters,
  http: EndpointRequest,
  kit: EndpointKit,
): { readonly fields: AuthorizationParameters; readonly cookies: readonly string[] } {
  const secret = cookieOf(kit).read(http) ?? kit.randomId()
  return { fields: { ...params, resent: kit.sha256(secret) }, cookies: [cookieOf(kit).write(secret)] }
}
