import { type EndpointKit, parseUrl } from '@grantry/core'
import type { ProviderLogout } from '../shared/provider-logout.ts'
import { isFailure } from './failure.ts'
import type { Upstream } from './upstreams.ts'

/**
 * Returns the URL that ends the session at a provider, with an `id_token_hint` if its tokens are kept.
 *
 * @see OpenID Connect RP-Initiated Logout 1.0 section 2
 */
export async function logoutUrlOf(
  { connection, keeper }: Upstream,
  { uri, state, sub }: Parameters<ProviderLogout['logoutUrl']>[1],
  kit: EndpointKit,
): Promise<string | undefined> {
  const { provider } = connection
  if (!provider.logout) return undefined
  const opened = await connection.open(kit)
  if (isFailure(opened)) return undefined
  const url = parseUrl(opened.client.serverMetadata().end_session_endpoint ?? '')
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && provider.allowPrivateAddresses)
  if (url === undefined || !isSafe) return undefined
  const hint = await keeper.hintOf(kit, sub, provider.name)
  const parameters = { client_id: provider.clientId, post_logout_redirect_uri: uri, state }
  const hinted = { ...parameters, ...(hint !== undefined && { id_token_hint: hint }) }
  for (const [name, value] of Object.entries(hinted)) url.searchParams.set(name, value)
  return url.href
}
