import type { Provider, UserService } from '@grantry/core'
import { combinedUsers } from '@grantry/plugins/upstream'
import { hasUserOf } from './configured-users.ts'

/**
 * Adds the users who have signed in at other providers, and have no account here. A user of the configuration, of the storage
 * or of the database comes first: an entry with the `sub` of such a user can deactivate it.
 *
 * @param provider returns the provider, once it exists
 */
export function withUpstreamUsers(users: UserService, provider: () => Pick<Provider, 'has' | 'use'>): UserService {
  const hasUser = hasUserOf(users)
  const here = {
    authenticate: users.authenticate?.bind(users),
    // Without this function, all users are active.
    isActive: users.isActive?.bind(users) ?? (() => true),
    claims: users.claims?.bind(users),
    // Without `find()`, a service does not report which users it has deactivated.
    find:
      users.find?.bind(users) ??
      (async (sub: string) => ((await hasUser?.(sub)) === true ? [{ sub, active: false }] : [])),
  }
  return combinedUsers([here], provider)
}
