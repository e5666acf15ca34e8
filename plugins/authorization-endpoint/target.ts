import { type EndpointKit, isRegisteredRedirectUri } from '@grantry/core'
import type { AuthorizationParameters } from './parameters.ts'
import { refusal } from './request.ts'
import { responseModeOf, type Target } from './response.ts'

/**
 * Finds where the response goes. Until this has succeeded, nothing is sent to a redirect URI.
 *
 * @throws OAuthError for the user, not for the client.
 * @see RFC 6749 section 4.1.2.1; RFC 9700 section 4.11
 */
export async function findTarget(params: AuthorizationParameters, kit: EndpointKit): Promise<Target> {
  const { client_id: clientId, redirect_uri: redirectUri, response_mode, state } = params
  if (clientId === undefined) {
    throw refusal('invalid_request', 'The parameter client_id is required', 'client_id_missing')
  }
  const client = await kit.findClient(clientId)
  if (client === undefined) throw refusal('unauthorized_client', 'The client is not known', 'client_unknown')
  if (redirectUri === undefined) {
    throw refusal('invalid_request', 'The parameter redirect_uri is required', 'redirect_uri_missing')
  }
  if (!isRegisteredRedirectUri(redirectUri, client.redirectUris)) {
    throw refusal('invalid_request', 'The redirect_uri is not registered', 'redirect_uri_mismatch')
  }
  return { client, redirectUri, responseMode: responseModeOf(response_mode) ?? 'query', state }
}
