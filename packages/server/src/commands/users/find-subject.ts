import { refused, type UserManager } from '@grantry/administration'
import type { AdminUser } from '@grantry/administration/api'
import type { Provider, UserService } from '@grantry/core'
import { assertUsersInStorage } from '../../administration/check-user.ts'
import type { LoadedConfiguration } from '../../configuration/load.ts'
import { isUserList, namesDriver } from '../../configuration/users-schema.ts'
import type { CommandAdministration } from '../../opening/open-administration.ts'
import { withProvider } from '../../opening/open-configuration.ts'
import { sanitizeText } from '../../sanitize-text.ts'
import { knownUsers, onlyUser } from '../../users/known-users.ts'
import { hostUsers, isUserDatabase } from '../../users/user-databases.ts'
import { orConfigured } from '../configured-entry.ts'
import { type CommonArguments, runOnEntries } from '../entry-commands.ts'

/**
 * Returns the `sub` of the user in the storage with this `sub`, or with this name.
 *
 * @throws RefusedError `not_found`; `invalid` if it is the `sub` of one user and the name of another one
 */
export async function storedSub(users: UserManager, subOrName: string): Promise<string> {
  const [isSub, named] = await Promise.all([users.has(subOrName), users.find(subOrName)])
  if (isSub && named !== undefined && named.id !== subOrName) {
    const message = `${subOrName} is the sub of one user and the name of another one (sub ${named.id}); rename that one first`
    throw refused('invalid', message)
  }
  if (isSub) return subOrName
  if (named !== undefined) return named.id
  throw refused(
    'not_found',
    `there is no user with the sub or the name ${subOrName} in the storage; check the spelling`,
  )
}

/** Runs an action on the users in the storage of the configuration. */
export const runOnUsers = <T>(
  options: CommonArguments,
  act: (administration: CommandAdministration) => Promise<T>,
): Promise<T> =>
  runOnEntries(options, async (administration, loaded) => {
    assertUsersInStorage(loaded)
    return act(administration)
  })

/** Runs an action on a user in the storage, whom the command names by the `sub` or by the name. */
export const runOnUser = <T>(
  subOrName: string,
  options: CommonArguments,
  act: (sub: string, administration: CommandAdministration) => Promise<T>,
): Promise<T> =>
  runOnEntries(options, async (administration, loaded) => {
    assertUsersInStorage(loaded)
    const sub = await orConfigured('users', subOrName, loaded, () => storedSub(administration.users, subOrName))
    return act(sub, administration)
  })

/** Calls `use` with the user service of a configuration without a list of users, and closes its connections. */
async function withUserService<T>(
  { configuration: { users }, directory }: LoadedConfiguration,
  use: (service: UserService | undefined) => Promise<T>,
): Promise<T> {
  if (isUserList(users)) return use(undefined)
  const service = await hostUsers(users, directory)
  try {
    return await use(service)
  } finally {
    // A service of a module belongs to the module.
    if (namesDriver(users) && isUserDatabase(service)) await service.close()
  }
}

function whyUnknown(subOrName: string, service: UserService | undefined): string {
  if (service === undefined) {
    return `there is no user with the sub or the name ${subOrName} in the configuration or in the storage; check the spelling`
  }
  if (service.find !== undefined)
    return `users: there is no user with the sub or the name ${subOrName}; check the spelling`
  return `users.isActive() does not know the sub ${subOrName}, or the user is inactive; pass the sub, or let the user service have find()`
}

/** The places in which a command looks for users. */
interface UserSources {
  readonly loaded: LoadedConfiguration
  readonly provider: Provider
  /** `undefined` without an administration: then no users are in the storage. */
  readonly stored: UserManager | undefined
}

/**
 * Returns the users with the `sub` or the name that a command names, in all places, and the reason if there is none.
 */
export const usersNamed = (
  subOrName: string,
  { loaded, provider, stored }: UserSources,
): Promise<{ readonly found: readonly AdminUser[]; readonly whyUnknown: string }> =>
  withUserService(loaded, async (service) => ({
    found: await knownUsers({ users: loaded.configuration.users, service, stored, provider }).find(subOrName),
    whyUnknown: whyUnknown(subOrName, service),
  }))

/** A user whom a command names, and what the command needs to act. */
export interface NamedUser {
  readonly user: AdminUser
  readonly provider: Provider
  readonly administration: CommandAdministration
  readonly loaded: LoadedConfiguration
}

/**
 * Runs an action on a user whom the command names by the `sub` or by the name, wherever users are.
 *
 * @throws RefusedError `not_found` for a user whom no part of the configuration knows: a success would hide a typing
 * mistake
 */
export const runOnKnownUser = <T>(
  subOrName: string,
  options: CommonArguments,
  act: (named: NamedUser) => Promise<T>,
): Promise<T> =>
  runOnEntries(options, (administration, loaded) =>
    withProvider(loaded, async (provider) => {
      const { found: matches, whyUnknown } = await usersNamed(subOrName, {
        loaded,
        provider,
        stored: administration.users,
      })
      return act({ user: onlyUser(subOrName, matches, whyUnknown), provider, administration, loaded })
    }),
  )

/** Shows a user in a sentence on a terminal: the `sub`, and the name if the command was given another text. */
export const shownUser = ({ sub, username }: Pick<AdminUser, 'sub' | 'username'>): string =>
  sanitizeText(username === undefined || username === sub ? sub : `${sub} (${username})`)
