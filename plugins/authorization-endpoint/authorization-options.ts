import { configurationObject, defineFields, type MembersOf, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { clientMembers, type descriptionMembers } from '../shared/client-members.ts'
import { functionSchema, portSchema, requiredFunctionSchema, wholeSeconds } from '../shared/config-schema.ts'
import { factorEntries } from '../shared/factor-entries.ts'
import type { EndpointPages } from './authorization-pages.ts'
import type { AuthorizationFeature, InteractionPort } from './interaction.ts'
import { organizationsSchema } from './organizations.ts'
import { prompts } from './parameters.ts'
import { displays } from './request.ts'
import { responseModes } from './response.ts'
import { type SessionOptions, sessionsSchema } from './session-records.ts'
import { maxInteractionLifetime } from './standing.ts'

/** OpenID Connect Core section 3.1.2.6, and OpenID Connect Core Error Code unmet_authentication_requirements 1.0. */
export const errors = {
  account_selection_required: 400,
  invalid_request_uri: 400,
  registration_not_supported: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  unmet_authentication_requirements: 400,
  unsupported_response_type: 400,
} as const

type EndpointErrors = typeof errors

/** Without TLS, browsers drop cookies with `SameSite=None`. */
const issuerCheck =
  ({ sameSite }: Pick<SessionOptions, 'sameSite'>) =>
  (issuer: string): string | undefined =>
    sameSite === 'none' && !issuer.startsWith('https:')
      ? 'sessions.sameSite none requires an https issuer: browsers drop such cookies without TLS; remove it'
      : undefined

/** @param acrValues those that the interaction can reach */
export const fieldsOf = ({
  acrValues,
  sessions,
  interaction,
}: {
  readonly acrValues: readonly string[]
  readonly sessions: Pick<SessionOptions, 'sameSite'>
  readonly interaction?: Pick<InteractionPort, 'createsAccounts'> | undefined
}) =>
  defineFields({
    checkIssuer: issuerCheck(sessions),
    errors,
    client: clientMembers,
    metadata: {
      response_modes_supported: [...responseModes],
      prompt_values_supported: [...prompts, ...(interaction?.createsAccounts === true ? ['create'] : [])],
      display_values_supported: [...displays],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      ...(acrValues.length > 0 && { acr_values_supported: [...acrValues] }),
    },
  })

/** The options that are data. */
export const authorizationEndpointEntries = {
  /** The lifetimes and the number of sessions. */
  sessions: v.optional(sessionsSchema, {}),
  /** Seconds for which a user can take to sign in and consent. Default: 1800. */
  interactionLifetime: v.optional(wholeSeconds(60, maxInteractionLifetime), 1800),
  /** Seconds for which a consent is remembered. Default: a year. */
  consentLifetime: v.optional(wholeSeconds(60, 315_360_000), 31_536_000),
  /** The authentication context classes that the interaction can reach (`acr_values_supported`). */
  acrValues: v.optional(v.array(v.string('must be a string'), 'must be an array of strings'), []),
}

export const pagesSchema = v.optional(
  portSchema<EndpointPages>('the pages of createPages()', { localeOf: true, error: true, formPost: true }),
)

export const optionsSchema = configurationObject({
  ...authorizationEndpointEntries,
  /** Determines who is signed in and what is authorized, such as `signIn()`. */
  interaction: configurationObject({
    interact: requiredFunctionSchema<InteractionPort['interact']>(),
    limitsHostCalls: v.optional(v.boolean('must be true or false')),
    createsAccounts: v.optional(v.boolean('must be true or false')),
    accepts: v.optional(
      configurationObject({ ...factorEntries, ways: v.optional(v.array(portSchema<object>('a way to sign in', {}))) }),
    ),
    suffices: functionSchema<NonNullable<InteractionPort['suffices']>>(),
    parts: functionSchema<NonNullable<InteractionPort['parts']>>(),
  }),
  /**
   * The organizations of users. A request names one by `acr_values=tenant:NAME`. Tokens then have it as `organization`, if the
   * user is a member; otherwise the request is refused with `access_denied`. Default: no token names an organization.
   */
  organizations: organizationsSchema,
  /** Optional parts: pushed requests, logout. */
  features: v.optional(v.array(portSchema<AuthorizationFeature>('a feature', { parts: true })), []),
  /** The pages that the endpoint shows by itself. Default: plain pages in English. */
  pages: pagesSchema,
})

export interface AuthorizationEndpointOptions extends Omit<OptionsOf<typeof optionsSchema>, 'interaction'> {
  /** Determines who is signed in and what was authorized. */
  readonly interaction: InteractionPort
}

/** What users see of a client. @see OpenID Connect Dynamic Client Registration section 2 */
export interface ClientDescription extends MembersOf<typeof descriptionMembers> {}

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
  interface PluginEndpoints {
    authorization: true
    authorizationResume: true
  }
  interface OAuthErrorCodes extends EndpointErrors {}
}
