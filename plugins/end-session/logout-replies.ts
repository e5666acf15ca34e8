import type { EndpointKit, EndpointRequest, OAuthError, Reply } from '@grantry/core'
import * as v from 'valibot'
import {
  type AuthorizationParameters,
  applicationOf,
  errorViewOf,
  formTargets,
  homeOf,
  type InteractionServices,
  type Session,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { resendForm } from '../shared/browser-cookie.ts'
import type { ProviderLogout } from '../shared/provider-logout.ts'
import type { LogoutPages } from './end-session-pages.ts'
import type { LogoutRequest } from './logout-request.ts'

/** Seconds for which the confirmation page can be answered. */
const formLifetime = 1800

/** Seconds for which a browser can come back from a provider. */
const returnLifetime = 1800

/** What the `state` of a logout at a provider contains. */
export const returnSchema = v.object({
  purpose: v.literal('logout return'),
  params: v.record(v.string(), v.string()),
})

/** Returns the view of the last page, with a link even if there is no client. */
function endView({ client }: LogoutRequest, kit: EndpointKit) {
  const application = applicationOf(client)
  return {
    clientName: application?.name ?? client?.clientName ?? client?.clientId,
    returnTo: application?.url,
    home: homeOf(kit),
  }
}

export function createLogoutReplies(
  { pages, providers }: { readonly pages: LogoutPages; readonly providers?: ProviderLogout | undefined },
  { sessions }: InteractionServices,
) {
  const localeFor = ({ uiLocales }: LogoutRequest, http: EndpointRequest): string =>
    pages.localeOf(uiLocales, http.header('accept-language'))

  /** Redirects only if the session has ended, or there is none. */
  function finished(request: LogoutRequest, http: EndpointRequest, kit: EndpointKit): Reply {
    if (request.location !== undefined) return { location: request.location }
    return pages.signedOut(endView(request, kit), localeFor(request, http))
  }

  /** Returns the redirect that ends the session at the provider where it has begun. */
  async function elsewhere({ params }: LogoutRequest, { subject }: Session, kit: EndpointKit) {
    if (providers === undefined || subject.idp === undefined) return undefined
    const state = await kit.seal({ purpose: 'logout return', params }, kit.now() + returnLifetime)
    const location = await providers.logoutUrl(
      subject.idp,
      { uri: kit.endpointUrl('endSessionReturn') ?? '', state, sub: subject.sub },
      kit,
    )
    return location === undefined ? undefined : { location }
  }

  async function end(request: LogoutRequest, session: Session, http: EndpointRequest, kit: EndpointKit) {
    await sessions.end(kit, session.sid)
    const reply = (await elsewhere(request, session, kit)) ?? finished(request, http, kit)
    return { ...reply, cookies: [sessions.clearCookie(kit)] }
  }

  /** @param fields hidden fields of the form */
  function confirmation(
    request: LogoutRequest,
    http: EndpointRequest,
    form: { readonly action: string | undefined; readonly fields: AuthorizationParameters; readonly name?: string },
  ): Reply {
    const { location } = request
    const { action = '', fields, name: subjectName } = form
    const targets = location === undefined ? [] : formTargets
    return pages.confirmLogout({ action, fields, subjectName, formTargets: targets }, localeFor(request, http))
  }

  async function ask(request: LogoutRequest, session: Session, http: EndpointRequest, kit: EndpointKit) {
    const { sid, subject, name = subject.sub } = session
    const token = { purpose: 'logout', sid, params: request.params }
    const fields = { form_token: await kit.seal(token, kit.now() + formLifetime) }
    return confirmation(request, http, { action: kit.endpointUrl('endSessionConfirmation'), fields, name })
  }

  const stay = (request: LogoutRequest, http: EndpointRequest, kit: EndpointKit): Reply =>
    pages.stillSignedIn(endView(request, kit), localeFor(request, http))

  /** Shows a page that sends the form again: the cookie of the session is missing if another site has sent it. */
  function resend(
    params: AuthorizationParameters,
    request: LogoutRequest,
    http: EndpointRequest,
    kit: EndpointKit,
  ): Reply {
    const { fields, cookies } = resendForm(params, http, kit)
    return { ...confirmation(request, http, { action: kit.endpointUrl('endSession'), fields }), cookies }
  }

  const error = async (reason: OAuthError, http: EndpointRequest, kit: EndpointKit): Promise<Reply> =>
    pages.error(await errorViewOf(reason, http, kit), pages.localeOf(undefined, http.header('accept-language')))

  return { finished, end, ask, stay, resend, error }
}
