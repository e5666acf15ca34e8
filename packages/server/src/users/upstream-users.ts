import type { Provider, UserService } from '@grantry/core'
import { type UpstreamUsers, upstreamUsers } from '@grantry/plugins/upstream'
import { hasUserOf } from './configured-users.ts'

/**
 * Adds the users who have signed in at other providers, and have no account here. A user of the configuration or of the
 * storage comes first: an entry with the `sub` of such a user can deactivate it.
 *
 * @param provider returns the provider, once it exists
 */
export function withUpstreamUsers(users: UserService, provider: () => Pick<Provider, 'has' | 'use'>): UserService {
  const known = (): UpstreamUsers => provider().use(upstreamUsers)
  const { isActive } = users
  const hasUser = hasUserOf(users)
  const isKnown = async (sub: string): Promise<boolean> =>
    (await known().find(sub)) !== undefined && (await hasUser?.(sub)) !== true
  return {
    ...(users.authenticate !== undefined && { authenticate: users.authenticate.bind(users) }),
    // Without this function, all users are active.
    ...(isActive !== undefined && {
      isActive: async (sub, question) => (await isActive.call(users, sub, question)) === true || (await isKnown(sub)),
    }),
    async claims(sub, names, question) {
      const ownClaims = (await users.claims?.(sub, names, question)) ?? {}
      return Object.keys(ownClaims).length > 0 ? ownClaims : ((await known().find(sub))?.claims ?? {})
    },
  }
}
