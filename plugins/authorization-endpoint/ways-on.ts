import type { Client, EndpointKit, EndpointRequest, OAuthError } from '@grantry/core'
import type { ErrorView } from './pages.ts'
import type { Visit } from './visit.ts'

/** Characters. A form repeats the query, so it must be far from the limit for bodies. */
const maxQueryLength = 4000

/** With these, the endpoint takes the refusal of an incomplete request to the client. */
const ofResponse = ['client_id', 'redirect_uri', 'state', 'response_mode'] as const

/**
 * Returns the query that begins a request again after it has expired or was answered. For a pushed request, and for one
 * that is too long, it leads to the client with an error. An identity token, which has claims about the user, is left out.
 */
export function restartQueryOf({ params, pushed }: Pick<Visit, 'params' | 'pushed'>): string {
  const { id_token_hint: _, ...repeatable } = params
  const whole = new URLSearchParams(repeatable).toString()
  if (pushed === undefined && whole.length <= maxQueryLength) return whole
  return new URLSearchParams(
    ofResponse.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])),
  ).toString()
}

/** Returns the URL that begins a request again. Only the query comes from the form. */
export function restartUrlOf(kit: EndpointKit, query: string): string | undefined {
  if (query === '' || query.length > 2 * maxQueryLength || !new URLSearchParams(query).has('client_id'))
    return undefined
  return `${kit.endpointUrl('authorization')}?${new URLSearchParams(query)}`
}

/** A link back to the application: what its configuration names, or the host of its redirect URI. */
export function applicationOf(client: Client | undefined): ErrorView['returnTo'] {
  if (client === undefined) return undefined
  const { clientId, clientName = clientId, initiateLoginUri, clientUri, redirectUris } = client
  const host = redirectUris.find((uri) => /^https:/iu.test(uri))
  const url = clientUri ?? initiateLoginUri ?? (host === undefined ? undefined : new URL(host).origin)
  return url === undefined ? undefined : { name: clientName, url }
}

export const homeOf = ({ issuer }: Pick<EndpointKit, 'issuer'>): string => new URL('/', issuer).href

/** Returns what the page of a refusal shows, with the ways on that are known. */
export async function errorViewOf(
  { code, details: { reason } }: OAuthError,
  http: EndpointRequest,
  kit: EndpointKit,
  ways: Pick<ErrorView, 'restart' | 'returnTo'> = {},
): Promise<ErrorView> {
  const clientId = new URL(http.url).searchParams.get('client_id')
  // A refusal because of a failure must not fail again.
  const client = clientId === null ? undefined : await kit.findClient(clientId).catch(() => undefined)
  return { code, reason, requestId: http.requestId, home: homeOf(kit), returnTo: applicationOf(client), ...ways }
}
