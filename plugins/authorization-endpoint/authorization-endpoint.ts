import {
  configurationObject,
  defineEndpoint,
  defineFields,
  definePlugin,
  type EndpointKit,
  type EndpointRequest,
  type OAuthError,
  type Plugin,
  parseConfiguration,
  type Reply,
} from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, wholeSeconds } from '../shared/config-schema.ts'
import { clientMembers } from './client-members.ts'
import type { AuthorizationFeature } from './feature.ts'
import { createFlow } from './flow.ts'
import type { InteractionPort } from './interaction.ts'
import { type EndpointPages, plainPages } from './pages.ts'
import type { AuthorizationParameters } from './parameters.ts'
import { prompts } from './request.ts'
import { responseModes } from './response.ts'
import { createSessions, type SessionOptions } from './sessions.ts'
import { createSuspendedRequests } from './suspended.ts'

export type { ClaimRequest, ClaimsParameter } from './claims-parameter.ts'
export type { AuthorizationFeature, PushedRequest, PushedRequests } from './feature.ts'
export type {
  Decision,
  Interaction,
  InteractionPort,
  InteractionServices,
  Interactions,
  Progress,
  RefusalCode,
  RefusedInteraction,
  SuspendedInteraction,
  Suspension,
} from './interaction.ts'
export type { EndpointPages, ErrorView, FormPostView, RenderedPage } from './pages.ts'
export type { AuthorizationParameters } from './parameters.ts'
export type { CheckedRequest, Prompt } from './request.ts'
export { formTargets, type ResponseMode } from './response.ts'
export type { Session, SessionOptions, Sessions, SignedInUser, StartedSession } from './sessions.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    authorization: true
    authorizationResume: true
  }
  interface OAuthErrorCodes {
    account_selection_required: 400
    invalid_request_uri: 400
    registration_not_supported: 400
    request_not_supported: 400
    request_uri_not_supported: 400
    unsupported_response_type: 400
  }
}

export interface AuthorizationEndpointOptions {
  /** Determines who is signed in and what was authorized. */
  readonly interaction: InteractionPort
  /** Optional parts: pushed requests, logout. */
  readonly features?: readonly AuthorizationFeature[] | undefined
  /** The pages that the endpoint shows by itself. Default: plain pages in English. */
  readonly pages?: EndpointPages | undefined
  readonly sessions?: Partial<SessionOptions> | undefined
  /** Seconds for which a user can take to sign in and consent. Default: 1800. */
  readonly interactionLifetime?: number | undefined
  /** The authentication context classes that the interaction can reach (`acr_values_supported`). */
  readonly acrValues?: readonly string[] | undefined
}

const sessionsSchema = configurationObject({
  idleLifetime: v.optional(wholeSeconds(10, 31_536_000), 3600),
  absoluteLifetime: v.optional(wholeSeconds(10, 31_536_000), 36_000),
})

/** The options that are data. */
export const authorizationEndpointEntries = {
  sessions: v.optional(sessionsSchema, {}),
  interactionLifetime: v.optional(wholeSeconds(60, 86_400), 1800),
  acrValues: v.optional(v.array(v.string('must be a string'), 'must be an array of strings'), []),
}

const optionsSchema = configurationObject({
  ...authorizationEndpointEntries,
  interaction: configurationObject({
    interact: v.custom<InteractionPort['interact']>((value) => typeof value === 'function', 'must be a function'),
    parts: functionSchema<NonNullable<InteractionPort['parts']>>(),
  }),
  features: v.optional(v.array(v.custom<AuthorizationFeature>((value) => typeof value === 'object')), []),
  pages: v.optional(v.custom<EndpointPages>((value) => typeof value === 'object' && value !== null)),
})

const errors = {
  account_selection_required: 400,
  invalid_request_uri: 400,
  registration_not_supported: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  unsupported_response_type: 400,
} as const

const fieldsOf = (acrValues: readonly string[]) =>
  defineFields({
    errors,
    client: clientMembers,
    metadata: {
      response_modes_supported: [...responseModes],
      prompt_values_supported: [...prompts],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      ...(acrValues.length > 0 && { acr_values_supported: [...acrValues] }),
    },
  })

/** A URL that every browser and proxy accepts (bytes). */
const maxUrlLength = 4000

/**
 * Returns a redirect to the same request by GET. Browsers send no session cookie with a form of another site, but with
 * the redirect that follows it.
 */
function asGet(params: AuthorizationParameters, kit: EndpointKit): Reply | undefined {
  const location = `${kit.endpointUrl('authorization')}?${new URLSearchParams(params)}`
  return location.length <= maxUrlLength ? { location } : undefined
}

/**
 * The authorization endpoint: checks requests, keeps sessions, and sends codes to clients. The interaction determines who
 * is signed in.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 6749 section 4.1; OpenID Connect Core section 3.1.2; RFC 9207; RFC 9700
 */
export function authorizationEndpoint(input: AuthorizationEndpointOptions): Plugin {
  const options = parseConfiguration(optionsSchema, input, 'authorizationEndpoint()')
  const { interaction: port, features, pages = plainPages } = options
  const sessions = createSessions(
    options.sessions,
    features.flatMap(({ onSessionEnd }) => onSessionEnd ?? []),
  )
  const flow = createFlow({
    port,
    pages,
    sessions,
    suspendedRequests: createSuspendedRequests(),
    pushedRequests: features.find(({ pushed }) => pushed !== undefined)?.pushed,
    onAuthorized: features.flatMap(({ onAuthorized }) => onAuthorized ?? []),
    lifetime: options.interactionLifetime,
  })
  const services = { interactions: flow, sessions }

  /** Shows refusals that no client may receive to the user. */
  const errorPage = (error: OAuthError, http: EndpointRequest): Reply => {
    const locale = pages.localeOf(undefined, http.header('accept-language'))
    return pages.error({ code: error.code, reason: error.details.reason }, locale)
  }

  const authorization = defineEndpoint({
    name: 'authorization',
    path: '/connect/authorize',
    metadataName: 'authorization_endpoint',
    methods: ['GET', 'POST'],
    caller: 'anyone',
    params: v.record(v.string(), v.string()),
    handle: ({ params, request }, kit) =>
      (request.method === 'POST' ? asGet(params, kit) : undefined) ?? flow.begin(params, request, kit),
    presentError: errorPage,
  })

  const resume = defineEndpoint({
    name: 'authorizationResume',
    path: '/connect/authorize/resume',
    methods: ['GET'],
    caller: 'anyone',
    params: v.object({ interaction: v.string() }),
    handle: ({ params, request }, kit) => flow.resume(params.interaction, request, kit),
    presentError: errorPage,
  })

  return definePlugin('authorization-endpoint', [
    fieldsOf(options.acrValues),
    authorization,
    resume,
    ...(port.parts?.(services) ?? []),
    ...features.flatMap((feature) => feature.parts(services)),
  ])
}
