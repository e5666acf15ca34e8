import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, wholeSeconds } from '../shared/config-schema.ts'
import type { AuthorizationFeature } from './feature.ts'
import type { InteractionPort } from './interaction.ts'
import type { EndpointPages } from './pages.ts'
import { sessionsSchema } from './session-options.ts'
import { maxInteractionLifetime } from './standing.ts'

export interface AuthorizationEndpointOptions {
  /** Determines who is signed in and what was authorized. */
  readonly interaction: InteractionPort
  /** Optional parts: pushed requests, logout. */
  readonly features?: readonly AuthorizationFeature[] | undefined
  /** The pages that the endpoint shows by itself. Default: plain pages in English. */
  readonly pages?: EndpointPages | undefined
  readonly sessions?: v.InferInput<typeof sessionsSchema> | undefined
  /** Seconds for which a user can take to sign in and consent. Default: 1800. */
  readonly interactionLifetime?: number | undefined
  /** Seconds for which a consent is remembered. Default: a year. */
  readonly consentLifetime?: number | undefined
  /** The authentication context classes that the interaction can reach (`acr_values_supported`). */
  readonly acrValues?: readonly string[] | undefined
}

/** The options that are data. */
export const authorizationEndpointEntries = {
  sessions: v.optional(sessionsSchema, {}),
  interactionLifetime: v.optional(wholeSeconds(60, maxInteractionLifetime), 1800),
  consentLifetime: v.optional(wholeSeconds(60, 315_360_000), 31_536_000),
  acrValues: v.optional(v.array(v.string('must be a string'), 'must be an array of strings'), []),
}

export const optionsSchema = configurationObject({
  ...authorizationEndpointEntries,
  interaction: configurationObject({
    interact: v.custom<InteractionPort['interact']>((value) => typeof value === 'function', 'must be a function'),
    limitsHostCalls: v.optional(v.boolean('must be true or false')),
    parts: functionSchema<NonNullable<InteractionPort['parts']>>(),
  }),
  features: v.optional(v.array(v.custom<AuthorizationFeature>((value) => typeof value === 'object')), []),
  pages: v.optional(v.custom<EndpointPages>((value) => typeof value === 'object' && value !== null)),
})
