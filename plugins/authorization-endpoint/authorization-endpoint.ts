import {
  authorizations,
  type Client,
  defineEndpoint,
  defineHostFunctions,
  definePlugin,
  type EndpointKit,
  type EndpointRequest,
  type Plugin,
  parseConfiguration,
  type Reply,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { asGet, isResent, lacksCookie, resendForm } from '../shared/browser-cookie.ts'
import { type AuthorizationEndpointOptions, fieldsOf, optionsSchema } from './authorization-options.ts'
import { type EndpointPages, plainPages } from './authorization-pages.ts'
import { createConsents } from './consents.ts'
import { createDecisions } from './decision.ts'
import { errorPageWith } from './error-page.ts'
import type { AuthorizationFeature, InteractionPort, SessionCheck } from './interaction.ts'
import { createInteractionServices } from './interactions.ts'
import { hostParts } from './login-page.ts'
import { membershipCheck } from './organizations.ts'
import { withoutCredentials } from './parameters.ts'
import { createRemoteInteractions, remoteInteractions } from './remote.ts'
import { type AuthorizationParameters, formTargets, responseTools } from './response.ts'
import { sessionCheck } from './session-check.ts'
import { createSessions } from './sessions.ts'
import { createSteps, type Steps } from './steps.ts'
import { createSuspendedRequests } from './suspended.ts'
import { createUserSessions, userSessions } from './user-sessions.ts'
import { createOpenInteraction } from './visit.ts'

export { homeOf } from '../shared/unknown-path.ts'
export { type UserAuthorization, type UserAuthorizations, userAuthorizations } from '../shared/user-authorizations.ts'
export {
  type AuthorizationEndpointOptions,
  authorizationEndpointEntries,
  type ClientDescription,
} from './authorization-options.ts'
export {
  type EndpointPages,
  type ErrorView,
  type FormPostView,
  plainPages,
  type RegisteredOfClient,
  type RenderedPage,
} from './authorization-pages.ts'
export { type BegunFlow, isRecent, judgeFlow } from './begun-flow.ts'
export { type Consents, type GivenConsent, requestedClaims } from './consents.ts'
export {
  type AuthorizationRequests,
  authorizationRequests,
  type HostAnswer,
  type HostDecision,
  type HostRequest,
} from './host.ts'
export type {
  AcceptedFactors,
  AskedDecision,
  AuthorizationFeature,
  Decision,
  Interaction,
  InteractionPort,
  InteractionServices,
  Interactions,
  Progress,
  PushedRequest,
  PushedRequests,
  RefusedInteraction,
  SessionCheck,
  SuspendedInteraction,
  Suspension,
  UnaskedDecision,
} from './interaction.ts'
export { type LoginPageOptions, loginPage, type UserConsents, userConsents } from './login-page.ts'
export { type Organizations, requestedTenant } from './organizations.ts'
export { type PageClient, pageClient } from './page-client.ts'
export { assertState, type ClaimRequest, type ClaimsParameter, type Prompt } from './parameters.ts'
export { type RefusalCode, refused } from './refusal.ts'
export {
  type RemoteDecision,
  type RemoteInteraction,
  type RemoteInteractions,
  remoteInteractions,
} from './remote.ts'
export { replacePassword } from './replace-password.ts'
export { type CheckedRequest, checkPushedRequest, type Display } from './request.ts'
export {
  type AuthorizationParameters,
  applicationOf,
  errorViewOf,
  formTargets,
  type ResponseMode,
  restartUrlOf,
} from './response.ts'
export { choosableScopes, chosenScopes } from './scope-choice.ts'
export type { Lifetimes, SessionOptions, StaySignedInOptions } from './session-records.ts'
export type { Session, SessionDevice, Sessions, SignedInUser, StartedSession } from './sessions.ts'
export {
  endedAt,
  isOutdated,
  maxInteractionLifetime,
  type Standing,
  standingEntries,
  standingIn,
  standingOf,
} from './standing.ts'
export { unknownReason } from './suspended.ts'
export { type UserSessions, userSessions } from './user-sessions.ts'

/** Lets the browser send a form again, with its cookies. A hint is a token, so it does not go into a URL. */
function resent(
  all: AuthorizationParameters,
  params: AuthorizationParameters,
  pages: EndpointPages,
  { http, kit }: { readonly http: EndpointRequest; readonly kit: EndpointKit },
): Reply {
  // Only once: a browser without cookies would repeat it forever.
  if (lacksCookie(all, http, kit)) {
    throw kit.refuse('invalid_request', 'The browser has sent no cookies', 'cookies_missing')
  }
  const action = kit.endpointUrl('authorization') ?? ''
  const redirect = params.id_token_hint === undefined ? asGet(action, params) : undefined
  if (redirect !== undefined) return redirect
  const { fields, cookies } = resendForm(params, http, kit)
  const locale = responseTools(pages, { kit, http, params }).locale
  return { ...pages.formPost({ action, fields, formTargets }, locale), cookies }
}

function endpointsOf(steps: Steps, pages: EndpointPages) {
  const presentError = errorPageWith(pages)

  const authorization = defineEndpoint({
    name: 'authorization',
    path: '/connect/authorize',
    metadataName: 'authorization_endpoint',
    methods: ['GET', 'POST'],
    effects: true,
    caller: 'anyone',
    params: v.record(v.string(), v.string()),
    handle({ params: { resent: _, ...received }, params: all, request: http }, kit) {
      const params = withoutCredentials(received)
      const isForeign = http.method === 'POST' && !isResent(all, http, kit)
      return isForeign ? resent(all, params, pages, { http, kit }) : steps.begin(params, http, kit)
    },
    presentError,
  })

  const resume = defineEndpoint({
    name: 'authorizationResume',
    path: '/connect/authorize/resume',
    methods: ['GET'],
    effects: true,
    caller: 'anyone',
    params: v.object({ interaction: v.string(), ticket: v.optional(v.string()) }),
    handle: ({ params: { interaction, ticket }, request }, kit) => steps.resume(interaction, ticket, request, kit),
    presentError,
  })

  return [authorization, resume]
}

const sufficesFor =
  (checks: readonly Pick<AuthorizationFeature, 'suffices'>[]): SessionCheck =>
  async (session, client, kit) => {
    for (const { suffices } of checks) if ((await suffices?.(session, client, kit)) === false) return false
    return true
  }

/** @throws TypeError when users would set up by a feature what the interaction does not accept. */
function assertAccepted({ accepts }: InteractionPort, features: readonly AuthorizationFeature[]): void {
  if (accepts === undefined) return
  for (const { checkAccepted } of features) {
    const problem = checkAccepted?.(accepts)
    if (problem !== undefined) throw new TypeError(problem)
  }
}

/**
 * The authorization endpoint: checks requests, keeps sessions, and sends codes to clients. The interaction determines who
 * is signed in.
 *
 * @throws TypeError when an option is malformed, or a feature would be a dead end beside the interaction.
 * @see RFC 6749 section 4.1; OpenID Connect Core section 3.1.2; RFC 9207; RFC 9700
 */
export function authorizationEndpoint(input: AuthorizationEndpointOptions): Plugin {
  const options = parseConfiguration(optionsSchema, input, 'authorizationEndpoint()')
  const { interaction: port, features, pages = plainPages } = options
  assertAccepted(port, features)
  const sessions = createSessions(options.sessions, features)
  const suspendedRequests = createSuspendedRequests(options.sessions.sameSite)
  const pushedRequests = features.find(({ pushed }) => pushed !== undefined)?.pushed
  const consents = createConsents(options.consentLifetime)
  const shared = { sessions, suspendedRequests, pushedRequests, features, consents }
  const { createsAccounts = false } = port
  const openInteraction = createOpenInteraction({ ...shared, lifetime: options.interactionLifetime, createsAccounts })
  const { organizations } = options
  const decisions = createDecisions({ ...shared, organizations })
  const steps = createSteps({ ...shared, port, pages, openInteraction, decisions })
  const interactions = createInteractionServices(steps, suspendedRequests)
  const services = { interactions, sessions, consents, suffices: sufficesFor([port, ...features]) }
  const mustPush = (client: Client): boolean =>
    client.requirePushedAuthorizationRequests === true || pushedRequests?.isRequired(client) === true
  return definePlugin('authorization-endpoint', [
    authorizations,
    sealing,
    fieldsOf(options),
    sessionCheck,
    ...(organizations === undefined ? [] : [membershipCheck(organizations)]),
    defineHostFunctions(userSessions, (kit) => createUserSessions(sessions, kit)),
    defineHostFunctions(remoteInteractions, createRemoteInteractions),
    ...hostParts({ pages, trusted: false, mustPush, consents }),
    ...endpointsOf(steps, pages),
    ...(port.parts?.(services) ?? []),
    ...features.flatMap((feature) => feature.parts(services)),
  ])
}
