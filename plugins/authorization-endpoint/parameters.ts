import type { Reply } from '@grantry/core'

/** The parameters of an authorization request, under their wire names. */
export type AuthorizationParameters = Readonly<Record<string, string>>

/** Credentials, which are parameters of other endpoints. */
const credentials: ReadonlySet<string> = new Set([
  'client_assertion',
  'client_secret',
  'code_verifier',
  'password',
  'username',
])

/** Drops credentials that a client or a page has added by mistake: requests are stored, and appear in URLs. */
export const withoutCredentials = (params: AuthorizationParameters): AuthorizationParameters =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !credentials.has(name)))

/** A URL that every browser and proxy accepts (bytes). */
const maxUrlLength = 4000

/**
 * Returns a redirect to the same request by GET. Browsers send no session cookie with a form of another site, but with
 * the redirect that follows it. `undefined` if the URL would be too long.
 */
export function asGet(url: string, params: AuthorizationParameters): Reply | undefined {
  const location = `${url}?${new URLSearchParams(params)}`
  return location.length <= maxUrlLength ? { location } : undefined
}
