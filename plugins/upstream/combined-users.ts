import type { FoundUser, Provider, UserService } from '@grantry/core'
import { upstreamUsers } from './profile.ts'

/** Users of one place, such as `sqlUsers()` or `ldapUsers()`. */
export interface UserSource extends UserService {
  readonly isActive: NonNullable<UserService['isActive']>
  /** Needed to distinguish a user who was deactivated in this place from a user of another place. */
  readonly find: NonNullable<UserService['find']>
}

/** Users of several places. */
export interface CombinedUsers extends UserSource {
  readonly claims: NonNullable<UserService['claims']>
}

/** Adds the users who have signed in at other providers, and have no account elsewhere. */
function ofProviders(provider: () => Pick<Provider, 'has' | 'use'>): UserSource {
  const known = async (sub: string) =>
    provider().has(upstreamUsers) ? provider().use(upstreamUsers).find(sub) : undefined
  return {
    isActive: async (sub) => (await known(sub)) !== undefined,
    claims: async (sub) => (await known(sub))?.claims ?? {},
    async find(sub) {
      const user = await known(sub)
      return user === undefined ? [] : [{ sub, active: true, claims: user.claims }]
    },
  }
}

const knows = async (source: UserSource, sub: string): Promise<boolean> =>
  (await source.find(sub)).some((user) => user.sub === sub)

/** Whether one of the places has a user with this `sub`, active or not. */
async function isKnownIn(sources: readonly UserSource[], sub: string): Promise<boolean> {
  const known = await Promise.all(sources.map((source) => knows(source, sub)))
  return known.includes(true)
}

/**
 * Combines the users of several places to one user service. The first place that knows a `sub` decides about its user, also
 * that the user is not active. Each place is asked for a name and a password, in this order, until one accepts them.
 *
 * @param provider returns the provider, once it exists: the users of `upstream()` without an account come last
 * @throws TypeError when a place lacks `isActive` or `find`.
 * @example
 * const provider: Provider = await createProvider({
 *   users: combinedUsers([sqlUsers(table), ldapUsers(directory)], () => provider),
 *   …
 * })
 */
export function combinedUsers(
  places: readonly UserSource[],
  provider?: () => Pick<Provider, 'has' | 'use'>,
): CombinedUsers {
  const incomplete = places.findIndex(
    ({ isActive, find }) => typeof isActive !== 'function' || typeof find !== 'function',
  )
  if (incomplete !== -1) {
    throw new TypeError(
      `combinedUsers(): place ${incomplete} needs isActive and find: otherwise a user whom it has deactivated could be active elsewhere`,
    )
  }
  const sources = provider === undefined ? places : [...places, ofProviders(provider)]
  const withPasswords = places.some(({ authenticate }) => authenticate !== undefined)
  return {
    ...(withPasswords && {
      async authenticate(credentials, client) {
        for (const [index, source] of places.entries()) {
          const user = await source.authenticate?.(credentials, client)
          if (user === undefined) continue
          return (await isKnownIn(places.slice(0, index), user.sub)) ? undefined : user
        }
        return undefined
      },
    }),
    async isActive(sub, question) {
      for (const [index, source] of sources.entries()) {
        if ((await source.isActive(sub, question)) !== true) continue
        return index === 0 || !(await isKnownIn(sources.slice(0, index), sub))
      }
      return false
    },
    async claims(sub, names, question) {
      for (const source of sources) {
        const claims = (await source.claims?.(sub, names, question)) ?? {}
        if (Object.keys(claims).length > 0) return claims
      }
      return {}
    },
    async find(subOrName): Promise<readonly FoundUser[]> {
      const users = (await Promise.all(sources.map((source) => source.find(subOrName)))).flat()
      return users.filter(({ sub }, index) => users.findIndex((user) => user.sub === sub) === index)
    },
  }
}
