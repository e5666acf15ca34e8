import { refused, type UserManager } from '@grantry/administration'
import { assertUsersInStorage, isUserList } from '../../administration/check-user.ts'
import type { CommandAdministration } from '../../administration/open-administration.ts'
import type { LoadedConfiguration } from '../../configuration/load.ts'
import { orConfigured } from '../configured-entry.ts'
import { type CommonArguments, runOnEntries } from '../entry-commands.ts'

/**
 * Returns the `sub` of the user in the storage with this `sub`, or with this name.
 *
 * @throws RefusedError `not_found`; `invalid` if it is the `sub` of one user and the name of another one
 */
async function storedSub(users: UserManager, subOrName: string): Promise<string> {
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
  given: CommonArguments,
  act: (administration: CommandAdministration) => Promise<T>,
): Promise<T> =>
  runOnEntries(given, async (administration, loaded) => {
    assertUsersInStorage(loaded)
    return act(administration)
  })

/** Runs an action on a user in the storage, whom the command names by the `sub` or by the name. */
export const runOnUser = <T>(
  subOrName: string,
  given: CommonArguments,
  act: (sub: string, administration: CommandAdministration) => Promise<T>,
): Promise<T> =>
  runOnEntries(given, async (administration, loaded) => {
    assertUsersInStorage(loaded)
    const sub = await orConfigured('users', subOrName, loaded, () => storedSub(administration.users, subOrName))
    return act(sub, administration)
  })

/** Returns the `sub` of a user in the storage, in the configuration or, as it is, of a user service. */
export async function subjectOf(
  subOrName: string,
  { users }: Pick<CommandAdministration, 'users'>,
  { configuration }: LoadedConfiguration,
): Promise<string> {
  if (!isUserList(configuration.users)) return subOrName
  const configured = configuration.users.find(({ sub, username }) => sub === subOrName || username === subOrName)
  return configured?.sub ?? storedSub(users, subOrName)
}
