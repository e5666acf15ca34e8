import { configuredProviderSchema } from '@grantry/plugins/upstream'
import * as v from 'valibot'

/** The members of the entry `sign-in` for providers at which users sign in. */
export const upstreamEntries = {
  providers: v.optional(v.array(configuredProviderSchema, 'must be an array of providers'), []),
  /** Whether users sign in with a password. */
  passwords: v.optional(v.boolean('must be true or false'), true),
}
