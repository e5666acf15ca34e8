import { refused, type UserManager } from '@grantry/administration'
import type { AdminUser, AdminUsers } from '@grantry/administration/api'
import type { FoundUser, HostKey, Provider, UserService } from '@grantry/core'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { configuredUsersLike, isUserList } from '../configuration/users-schema.ts'
import { upstreamUsers, userAuthorizations, userSessions } from '../plugin-keys.ts'

export interface KnownUsersDeps {
  readonly users: CheckedConfiguration['users']
  /** Finds users if the configuration has no list of them. */
  readonly service: UserService | undefined
  /** `undefined` without an administration: then no users are in the storage. */
  readonly stored: Pick<UserManager, 'find' | 'has' | 'show'> | undefined
  readonly provider: Pick<Provider, 'has' | 'use'>
}

const withSource =
  (from: AdminUser['from']) =>
  ({ sub, username, active, claims = {} }: FoundUser): AdminUser => ({
    sub,
    ...(username !== undefined && { username }),
    active,
    claims,
    from,
  })

async function inStorage(subOrName: string, users: KnownUsersDeps['stored']): Promise<readonly AdminUser[]> {
  if (users === undefined) return []
  const [isSub, named] = await Promise.all([users.has(subOrName), users.find(subOrName)])
  const managed = [...(isSub ? [await users.show(subOrName)] : []), ...(named === undefined ? [] : [named])]
  return managed.map(({ value }) => withSource('storage')({ ...value, active: value.active !== false }))
}

/** Finds a user in a service. Without `find()`, a service knows only active users, by the `sub`. */
async function inService(subOrName: string, service: UserService): Promise<readonly AdminUser[]> {
  const users = await service.find?.(subOrName)
  if (users !== undefined) return users.map(withSource('service'))
  const isKnown = service.isActive === undefined || (await service.isActive(subOrName)) === true
  return isKnown ? [withSource('service')({ sub: subOrName, active: true })] : []
}

async function ofProviders(sub: string, provider: KnownUsersDeps['provider']): Promise<readonly AdminUser[]> {
  const user = provider.has(upstreamUsers) ? await provider.use(upstreamUsers).find(sub) : undefined
  return user === undefined ? [] : [withSource('provider')({ sub, active: true, claims: user.claims })]
}

/** Finds a removed user by the `sub`, as long as sessions or authorizations are left, which can be shown and ended. */
async function leftOf(sub: string, provider: KnownUsersDeps['provider']): Promise<readonly AdminUser[]> {
  const has = async (key: HostKey<{ list(sub: string): Promise<readonly unknown[]> }>) =>
    provider.has(key) && (await provider.use(key).list(sub)).length > 0
  const isLeft = (await has(userSessions)) || (await has(userAuthorizations))
  return isLeft ? [withSource('removed')({ sub, active: false })] : []
}

/** Returns a function that finds users wherever they are: in the configuration, the storage, a service, or from a provider. */
export function knownUsers({ users, service, stored, provider }: KnownUsersDeps): AdminUsers {
  return {
    inStorage: isUserList(users),
    async find(subOrName) {
      const listed = isUserList(users)
        ? [
            ...configuredUsersLike(subOrName, users).map(withSource('configuration')),
            ...(await inStorage(subOrName, stored)),
          ]
        : service === undefined
          ? []
          : await inService(subOrName, service)
      const matches = [...listed, ...(await ofProviders(subOrName, provider))]
      if (matches.length === 0) return leftOf(subOrName, provider)
      // The first one of each `sub`: an entry comes before what a provider has stated.
      return matches.filter(({ sub }, index) => matches.findIndex((user) => user.sub === sub) === index)
    },
  }
}

/**
 * Returns the user that was found for a `sub` or a name.
 *
 * @throws RefusedError `not_found`; `invalid` if there are several
 */
export function onlyUser(subOrName: string, matches: readonly AdminUser[], whyUnknown: string): AdminUser {
  const [user, second] = matches
  if (user === undefined) throw refused('not_found', whyUnknown)
  if (second === undefined) return user
  const subs = [user, second].map(({ sub }) => sub)
  const [otherSub = ''] = subs.filter((sub) => sub !== subOrName)
  const message = subs.includes(subOrName)
    ? `${subOrName} is the sub of one user and the name of another one (sub ${otherSub}); rename that one first`
    : `several users have the name ${subOrName}; pass the sub: ${subs.join(' or ')}`
  throw refused('invalid', message)
}
