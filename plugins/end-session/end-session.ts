import {
  configurationObject,
  defineEndpoint,
  type EndpointKit,
  type EndpointRequest,
  type OAuthError,
  parseConfiguration,
  type Reply,
} from '@grantry/core'
import * as v from 'valibot'
import {
  type AuthorizationFeature,
  type AuthorizationParameters,
  applicationOf,
  errorViewOf,
  formTargets,
  homeOf,
  type InteractionServices,
  type Session,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { asGet, isResent, resendForm } from '../shared/redirects.ts'
import {
  checkLogoutRequest,
  invalid,
  isHinted,
  type LogoutRequest,
  logoutParametersOf,
  urlParametersOf,
} from './logout-request.ts'
import type { LogoutPages } from './pages.ts'

export type { ConfirmLogoutView, LogoutEndView, LogoutPages, RenderedPage } from './pages.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    endSession: true
    endSessionConfirmation: true
  }
}

export interface EndSessionOptions {
  readonly pages: LogoutPages
}

const optionsSchema = configurationObject({
  pages: v.custom<LogoutPages>(
    (value) => typeof value === 'object' && value !== null,
    'must be the pages of createPages()',
  ),
})

/** Seconds for which the page that asks can be answered. */
const formLifetime = 1800

/** The content of a form token. It names the session, so that no other site can send the form. */
const tokenSchema = v.object({
  purpose: v.literal('logout'),
  sid: v.string(),
  params: v.record(v.string(), v.string()),
})

const text = v.optional(v.string(), '')

/** What the last page shows. It has a way on, also without a client. */
function endView({ client }: LogoutRequest, kit: EndpointKit) {
  const application = applicationOf(client)
  return {
    clientName: application?.name ?? client?.clientName ?? client?.clientId,
    returnTo: application?.url,
    home: homeOf(kit),
  }
}

function logoutEndpoints({ pages }: EndSessionOptions, { sessions }: InteractionServices) {
  const localeFor = ({ uiLocales }: LogoutRequest, http: EndpointRequest): string =>
    pages.localeOf(uiLocales, http.header('accept-language'))

  /** Redirects only if the session has ended, or there is none. */
  function finished(request: LogoutRequest, http: EndpointRequest, kit: EndpointKit): Reply {
    if (request.location !== undefined) return { location: request.location }
    return pages.signedOut(endView(request, kit), localeFor(request, http))
  }

  async function end(request: LogoutRequest, { sid }: Session, http: EndpointRequest, kit: EndpointKit) {
    await sessions.end(kit, sid)
    return { ...finished(request, http, kit), cookies: [sessions.clearCookie(kit)] }
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

  async function begin(received: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): Promise<Reply> {
    const params = logoutParametersOf(received)
    const request = await checkLogoutRequest(params, kit)
    const action = kit.endpointUrl('endSession')
    if (http.method === 'POST' && !isResent(received, http, kit)) {
      return asGet(action ?? '', await urlParametersOf(request, kit)) ?? resend(params, request, http, kit)
    }
    const session = await sessions.find(kit, http)
    // The cookie is not cleared: the browser can have one that it did not send.
    if (session === undefined) return finished(request, http, kit)
    if (received.decision === 'stay') return stay(request, http, kit)
    return isHinted(request, session) ? end(request, session, http, kit) : ask(request, session, http, kit)
  }

  const errorPage = async (error: OAuthError, http: EndpointRequest, kit: EndpointKit): Promise<Reply> =>
    pages.error(await errorViewOf(error, http, kit), pages.localeOf(undefined, http.header('accept-language')))

  const endSessionEndpoint = defineEndpoint({
    name: 'endSession',
    path: '/connect/endsession',
    metadataName: 'end_session_endpoint',
    methods: ['GET', 'POST'],
    effects: true,
    caller: 'anyone',
    params: v.record(v.string(), v.string()),
    handle: ({ params, request }, kit) => begin(params, request, kit),
    presentError: errorPage,
  })

  const confirmationEndpoint = defineEndpoint({
    name: 'endSessionConfirmation',
    path: '/connect/endsession/confirm',
    methods: ['GET', 'POST'],
    caller: 'anyone',
    params: v.object({ form_token: text, decision: text }),
    async handle({ params: { form_token: token, decision }, request: http }, kit): Promise<Reply> {
      // The address that the browser shows after the form: a user can load it again.
      if (http.method !== 'POST') return { location: kit.endpointUrl('endSession') ?? '' }
      const form = await kit.unseal(token, tokenSchema)
      if (form === undefined) throw invalid('The form has expired', 'interaction_unknown')
      // Again, because the client can have changed.
      const request = await checkLogoutRequest(form.params, kit)
      const session = await sessions.find(kit, http)
      // The browser sends the cookie with a redirect, if only the form of another site was without it.
      if (session === undefined) {
        return asGet(kit.endpointUrl('endSession') ?? '', form.params) ?? resend(form.params, request, http, kit)
      }
      if (session.sid !== form.sid) return ask(request, session, http, kit)
      return decision === 'logout' ? end(request, session, http, kit) : stay(request, http, kit)
    },
    presentError: errorPage,
  })

  return [endSessionEndpoint, confirmationEndpoint]
}

/**
 * Lets clients end the session of a user. Pass it to `authorizationEndpoint()` as one of its `features`.
 *
 * A client can return users to a URI of its `postLogoutRedirectUris`. Refresh tokens remain valid: they are issued for
 * `offline_access` only, which is access while the user is away.
 *
 * @throws TypeError when an option is malformed.
 * @see OpenID Connect RP-Initiated Logout 1.0
 */
export function endSession(input: EndSessionOptions): AuthorizationFeature {
  const options = parseConfiguration(optionsSchema, input, 'endSession()')
  return { parts: (services) => logoutEndpoints(options, services) }
}
