import { type EndpointKit, parseUrl } from '@grantry/core'
import { isFailure } from './failure.ts'
import type { Upstream } from './upstreams.ts'

/**
 * Returns the URL that ends the session at a provider. Without an `id_token_hint`: the tokens of the provider are not kept.
 *
 * @see OpenID Connect RP-Initiated Logout 1.0 section 2
 */
export async function logoutUrlOf(
  { connection }: Upstream,
  { uri, state }: { readonly uri: string; readonly state: string },
  kit: EndpointKit,
): Promise<string | undefined> {
  const { provider } = connection
  if (!provider.logout) return undefined
  const opened = await connection.open(kit)
  if (isFailure(opened)) return undefined
  const url = parseUrl(opened.client.serverMetadata().end_session_endpoint ?? '')
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && provider.allowPrivateAddresses)
  if (url === undefined || !isSafe) return undefined
  const parameters = { client_id: provider.clientId, post_logout_redirect_uri: uri, state }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
