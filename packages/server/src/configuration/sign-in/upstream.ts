import type { AccountStore } from '@grantry/plugins/self-service'
import { configuredProviderSchema, providerOf, type UpstreamWays, upstream } from '@grantry/plugins/upstream'
import * as v from 'valibot'

/** The members of the entry `sign-in` for providers at which users sign in. */
export const upstreamEntries = {
  providers: v.optional(v.array(configuredProviderSchema, 'must be an array of providers'), []),
  /** Whether users sign in with a password. */
  passwords: v.optional(v.boolean('must be true or false'), true),
}

type Providers = v.InferInput<typeof upstreamEntries.providers>

/**
 * The ways to sign in at the configured providers.
 *
 * @param accounts where users get an account. Without it, only the plugin knows them
 */
export const upstreamWays = (
  providers: NonNullable<Providers>,
  accounts: AccountStore | undefined,
): readonly UpstreamWays[] =>
  providers.length === 0 ? [] : [upstream({ providers: providers.map(providerOf), accounts })]
