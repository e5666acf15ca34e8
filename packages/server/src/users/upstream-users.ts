import type { Provider, UserService } from '@grantry/core'
import { type UpstreamUsers, upstreamUsers } from '@grantry/plugins/upstream'

/**
 * Adds the users who have signed in at other providers, and have no account here. A user of the configuration or of the
 * storage comes first.
 *
 * @param provider returns the provider, once it exists
 */
export function withUpstreamUsers(users: UserService, provider: () => Pick<Provider, 'has' | 'use'>): UserService {
  const known = (): UpstreamUsers => provider().use(upstreamUsers)
  const { isActive } = users
  return {
    ...(users.authenticate !== undefined && { authenticate: users.authenticate.bind(users) }),
    // Without this function, all users are active.
    ...(isActive !== undefined && {
      isActive: async (sub: string) =>
        (await isActive.call(users, sub)) === true || (await known().find(sub)) !== undefined,
    }),
    async claims(sub, names) {
      const own = (await users.claims?.(sub, names)) ?? {}
      return Object.keys(own).length > 0 ? own : ((await known().find(sub))?.claims ?? {})
    },
  }
}
