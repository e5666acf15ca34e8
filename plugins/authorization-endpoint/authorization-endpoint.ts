import {
  defineEndpoint,
  definePlugin,
  type EndpointKit,
  type EndpointRequest,
  type OAuthError,
  parseConfiguration,
  type Reply,
} from '@grantry/core'
import * as v from 'valibot'
import { createConsents } from './consents.ts'
import { createDecisions } from './decision.ts'
import { fieldsOf } from './fields.ts'
import { createFlow } from './flow.ts'
import { createInteractionServices } from './interactions.ts'
import { createOpenInteraction } from './open-interaction.ts'
import { type AuthorizationEndpointOptions, optionsSchema } from './options.ts'
import { plainPages } from './pages.ts'
import { type AuthorizationParameters, asGet, withoutCredentials } from './parameters.ts'
import { invalid } from './refusal.ts'
import { isResent, lacksCookie, resendForm } from './resend.ts'
import { formTargets, responseTools } from './response.ts'
import { createSessions } from './sessions.ts'
import { createSuspendedRequests } from './suspended.ts'
import { type AuthorizationEndpointPlugin, createUserSessions } from './user-sessions.ts'
import { errorViewOf } from './ways-on.ts'

export type { ClaimRequest, ClaimsParameter } from './claims-parameter.ts'
export { type Consents, requestedClaims } from './consents.ts'
export type { ClientDescription } from './declarations.ts'
export type { AuthorizationFeature, PushedRequest, PushedRequests } from './feature.ts'
export {
  authorizationResponse,
  type HostDecision,
  type HostOptions,
  type HostRequest,
  parseAuthorizationRequest,
  type UserConsents,
  userConsents,
} from './host.ts'
export type {
  AskedDecision,
  Decision,
  Interaction,
  InteractionPort,
  InteractionServices,
  Interactions,
  Progress,
  RefusedInteraction,
  SuspendedInteraction,
  Suspension,
  UnaskedDecision,
} from './interaction.ts'
export { type AuthorizationEndpointOptions, authorizationEndpointEntries } from './options.ts'
export { type EndpointPages, type ErrorView, type FormPostView, plainPages, type RenderedPage } from './pages.ts'
export type { AuthorizationParameters } from './parameters.ts'
export {
  createRemoteInteractions,
  type RemoteDecision,
  type RemoteInteraction,
  type RemoteInteractions,
} from './remote.ts'
export type { CheckedRequest, Display, Prompt } from './request.ts'
export { formTargets, type ResponseMode } from './response.ts'
export type { Lifetimes, SessionOptions, StaySignedInOptions } from './session-options.ts'
export type { Session, Sessions, SignedInUser, StartedSession } from './sessions.ts'
export type { AuthorizationEndpointPlugin, UserSessions } from './user-sessions.ts'

/**
 * The authorization endpoint: checks requests, keeps sessions, and sends codes to clients. The interaction determines who
 * is signed in.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 6749 section 4.1; OpenID Connect Core section 3.1.2; RFC 9207; RFC 9700
 */
export function authorizationEndpoint(input: AuthorizationEndpointOptions): AuthorizationEndpointPlugin {
  const options = parseConfiguration(optionsSchema, input, 'authorizationEndpoint()')
  const { interaction: port, features, pages = plainPages } = options
  const sessions = createSessions(options.sessions, features)
  const suspendedRequests = createSuspendedRequests(options.sessions.sameSite)
  const pushedRequests = features.find(({ pushed }) => pushed !== undefined)?.pushed
  const consents = createConsents(options.consentLifetime)
  const lifetime = options.interactionLifetime
  const openInteraction = createOpenInteraction({ sessions, suspendedRequests, consents, lifetime })
  const decisions = createDecisions({ sessions, suspendedRequests, pushedRequests, features, consents })
  const common = { pages, openInteraction, decisions, suspendedRequests }
  const flow = createFlow({ ...common, port, pushedRequests, sessions })
  const services = { interactions: createInteractionServices(common), sessions, consents }

  /** Shows refusals that no client may receive to the user. */
  const errorPage = async (error: OAuthError, http: EndpointRequest, kit: EndpointKit): Promise<Reply> => {
    const locale = pages.localeOf(undefined, http.header('accept-language'))
    return pages.error(await errorViewOf(error, http, kit), locale)
  }

  /** Lets the browser send a form again, with its cookies. A hint is a token, so it does not go into a URL. */
  function resent(
    all: AuthorizationParameters,
    params: AuthorizationParameters,
    http: EndpointRequest,
    kit: EndpointKit,
  ) {
    // Not again: a browser without cookies would repeat it forever.
    if (lacksCookie(all, http, kit)) throw invalid('The browser has sent no cookies', 'cookies_missing')
    const action = kit.endpointUrl('authorization') ?? ''
    const redirect = params.id_token_hint === undefined ? asGet(action, params) : undefined
    if (redirect !== undefined) return redirect
    const { fields, cookies } = resendForm(params, http, kit)
    const locale = responseTools(pages, { kit, http, params }).locale
    return { ...pages.formPost({ action, fields, formTargets }, locale), cookies }
  }

  const authorization = defineEndpoint({
    name: 'authorization',
    path: '/connect/authorize',
    metadataName: 'authorization_endpoint',
    methods: ['GET', 'POST'],
    effects: true,
    caller: 'anyone',
    params: v.record(v.string(), v.string()),
    handle({ params: { resent: _, ...received }, params: all, request }, kit) {
      const params = withoutCredentials(received)
      const isForeign = request.method === 'POST' && !isResent(all, request, kit)
      return isForeign ? resent(all, params, request, kit) : flow.begin(params, request, kit)
    },
    presentError: errorPage,
  })

  const resume = defineEndpoint({
    name: 'authorizationResume',
    path: '/connect/authorize/resume',
    methods: ['GET'],
    effects: true,
    caller: 'anyone',
    params: v.object({ interaction: v.string(), ticket: v.optional(v.string()) }),
    handle: ({ params: { interaction, ticket }, request }, kit) => flow.resume(interaction, ticket, request, kit),
    presentError: errorPage,
  })

  const plugin = definePlugin('authorization-endpoint', [
    fieldsOf(options),
    authorization,
    resume,
    ...(port.parts?.(services) ?? []),
    ...features.flatMap((feature) => feature.parts(services)),
  ])
  return { ...plugin, sessions: createUserSessions(sessions, plugin.name) }
}
