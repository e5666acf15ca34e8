import {
  configurationObject,
  defineEndpoint,
  type EndpointKit,
  type EndpointRequest,
  type OptionsOf,
  parseConfiguration,
  type Reply,
} from '@grantry/core'
import * as v from 'valibot'
import type {
  AuthorizationFeature,
  AuthorizationParameters,
  InteractionServices,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { asGet, isResent } from '../shared/browser-cookie.ts'
import { portSchema } from '../shared/config-schema.ts'
import type { ProviderLogout } from '../shared/provider-logout.ts'
import type { LogoutPages } from './end-session-pages.ts'
import { createLogoutReplies, returnSchema } from './logout-replies.ts'
import { checkLogoutRequest, isHinted, logoutParametersOf, urlParametersOf } from './logout-request.ts'

export type { RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'
export type { ProviderLogout } from '../shared/provider-logout.ts'
export type { ConfirmLogoutView, LogoutEndView, LogoutPages } from './end-session-pages.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    endSession: true
    endSessionConfirmation: true
    endSessionReturn: true
  }
}

export const endSessionSchema = configurationObject({
  /** The pages, such as those of `createPages()`. */
  pages: portSchema<LogoutPages>('the pages of createPages()', {
    localeOf: true,
    confirmLogout: true,
    signedOut: true,
    stillSignedIn: true,
    error: true,
  }),
  /** Ends the sessions at the providers where they have begun: the result of `upstream()`. */
  providers: v.optional(portSchema<ProviderLogout>('the result of upstream()', { logoutUrl: true })),
})

export type EndSessionOptions = OptionsOf<typeof endSessionSchema>

/** The content of a form token. It names the session, so that no other site can send the form. */
const tokenSchema = v.object({
  purpose: v.literal('logout'),
  sid: v.string(),
  params: v.record(v.string(), v.string()),
})

const text = v.optional(v.string(), '')

type LogoutReplies = ReturnType<typeof createLogoutReplies>

/** The endpoint to which clients send the browser. */
function endSessionEndpoint({ sessions }: InteractionServices, replies: LogoutReplies) {
  async function begin(received: AuthorizationParameters, http: EndpointRequest, kit: EndpointKit): Promise<Reply> {
    const params = logoutParametersOf(received)
    const request = await checkLogoutRequest(params, http, kit)
    const action = kit.endpointUrl('endSession')
    if (http.method === 'POST' && !isResent(received, http, kit)) {
      return asGet(action ?? '', await urlParametersOf(request, kit)) ?? replies.resend(params, request, http, kit)
    }
    const session = await sessions.find(kit, http)
    // Does not clear the cookie: the browser may have one that it did not send with this request.
    if (session === undefined) return replies.finished(request, http, kit)
    if (received.decision === 'stay') return replies.stay(request, http, kit)
    return isHinted(request, session)
      ? replies.end(request, session, http, kit)
      : replies.ask(request, session, http, kit)
  }

  return defineEndpoint({
    name: 'endSession',
    path: '/connect/endsession',
    metadataName: 'end_session_endpoint',
    methods: ['GET', 'POST'],
    effects: true,
    caller: 'anyone',
    params: v.record(v.string(), v.string()),
    handle: ({ params, request }, kit) => begin(params, request, kit),
    presentError: replies.error,
  })
}

/** The endpoint that receives the form of the confirmation page. */
function confirmationEndpoint({ sessions }: InteractionServices, replies: LogoutReplies) {
  return defineEndpoint({
    name: 'endSessionConfirmation',
    path: '/connect/endsession/confirm',
    methods: ['GET', 'POST'],
    caller: 'anyone',
    params: v.object({ form_token: text, decision: text }),
    async handle({ params: { form_token: token, decision }, request: http }, kit): Promise<Reply> {
      // The address that the browser shows after the form: a user can load it again.
      if (http.method !== 'POST') return { location: kit.endpointUrl('endSession') ?? '' }
      const form = await kit.unseal(token, tokenSchema)
      if (form === undefined) throw kit.refuse('invalid_request', 'The form has expired', 'interaction_unknown')
      // Checked again, because the client can have changed.
      const request = await checkLogoutRequest(form.params, http, kit)
      const session = await sessions.find(kit, http)
      // The browser sends the cookie with a redirect, if only the form of another site was without it.
      if (session === undefined) {
        return (
          asGet(kit.endpointUrl('endSession') ?? '', form.params) ?? replies.resend(form.params, request, http, kit)
        )
      }
      if (session.sid !== form.sid) return replies.ask(request, session, http, kit)
      return decision === 'logout' ? replies.end(request, session, http, kit) : replies.stay(request, http, kit)
    },
    presentError: replies.error,
  })
}

/** The endpoint to which the browser returns from a provider, where its session has ended, too. */
const returnEndpoint = (replies: LogoutReplies) =>
  defineEndpoint({
    name: 'endSessionReturn',
    path: '/connect/endsession/return',
    methods: ['GET'],
    caller: 'anyone',
    params: v.object({ state: text }),
    async handle({ params: { state }, request: http }, kit): Promise<Reply> {
      const back = await kit.unseal(state, returnSchema)
      // Checked again, because the client can have changed. Without a state from the provider, shows the last page.
      return replies.finished(await checkLogoutRequest(back?.params ?? {}, http, kit), http, kit)
    },
    presentError: replies.error,
  })

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
  const options = parseConfiguration(endSessionSchema, input, 'endSession()')
  return {
    parts(services) {
      const replies = createLogoutReplies(options, services)
      const returns = options.providers === undefined ? [] : [returnEndpoint(replies)]
      return [endSessionEndpoint(services, replies), confirmationEndpoint(services, replies), ...returns]
    },
  }
}
