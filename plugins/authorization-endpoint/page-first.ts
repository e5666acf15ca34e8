import type { Client, OAuthError, Reply } from '@grantry/core'
import type { EndpointPages, ErrorView } from './pages.ts'
import type { AuthorizationParameters } from './parameters.ts'
import { errorResponse, type ResponseTools, type Target } from './response.ts'

/**
 * Whether a refusal goes to the client only when the user follows a link. Otherwise, a link to the provider with a mistake
 * in it would lead to the site of any client, before the user has seen a page or signed in. A client with
 * `requireConsent: false` is trusted; `prompt=none` must not show a page.
 *
 * @see RFC 9700 section 4.11.2; OpenID Connect Core section 3.1.2.6
 */
export const needsPageFirst = ({ requireConsent }: Client, { prompt = '' }: AuthorizationParameters): boolean =>
  requireConsent !== false && !prompt.split(' ').includes('none')

/** Shows a refusal, with a link or a button that takes it to the client. */
export function pageFirst(
  target: Target,
  thrown: unknown,
  tools: ResponseTools & { readonly pages: EndpointPages },
  more: Pick<ErrorView, 'requestId' | 'home'>,
): Reply & { readonly error: OAuthError } {
  const { location, ...reply } = errorResponse(target, thrown, tools, 'by the user')
  if (location === undefined) return reply
  const { code, details } = reply.error
  const { clientName = target.client.clientId } = target.client
  const view = { code, reason: details.reason, returnTo: { name: clientName, url: location }, ...more }
  return { ...tools.pages.error(view, tools.locale), error: reply.error }
}
