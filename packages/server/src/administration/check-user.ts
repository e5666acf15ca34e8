import { refused, type StoredUser } from '@grantry/administration'
import { foldedUsername } from '@grantry/core'
import { passwordHashProblem } from '@grantry/users/password-hash'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { ConfiguredUser } from '../users/configured-users.ts'

type Users = CheckedConfiguration['users']

/** Whether the users of a configuration are in it. Then more of them can be in the storage. */
export const isUserList = (users: Users): users is readonly ConfiguredUser[] => Array.isArray(users)

/** Returns a user of the configuration with the `sub` or the name of this one, in any case and Unicode form. */
export function configuredUserLike(
  { sub, username }: Pick<StoredUser, 'sub' | 'username'>,
  users: readonly ConfiguredUser[],
): ConfiguredUser | undefined {
  const name = foldedUsername(username)
  return users.find((user) => user.sub === sub || foldedUsername(user.username) === name)
}

/** Returns the users of the configuration with this `sub`, or with this name in any case and Unicode form. */
export function configuredUsersLike(subOrName: string, users: readonly ConfiguredUser[]): readonly ConfiguredUser[] {
  const name = foldedUsername(subOrName)
  return users.filter(({ sub, username }) => sub === subOrName || foldedUsername(username) === name)
}

/** @throws RefusedError when users come from a database of the host. */
export function assertUsersInStorage({ configuration, file }: LoadedConfiguration): void {
  if (isUserList(configuration.users)) return
  const message = `${file}: users come from a user service, which this command cannot list or change; change them where it reads them, and find one with grantry users show`
  throw refused('invalid', message)
}

/** Returns a function that rejects when the server would refuse a user. */
export function createUserCheck(loaded: LoadedConfiguration) {
  return async (user: StoredUser): Promise<void> => {
    const { configuration, file } = loaded
    assertUsersInStorage(loaded)
    const users = isUserList(configuration.users) ? configuration.users : []
    const twin = configuredUserLike(user, users)
    if (twin !== undefined) {
      const [member, what] = twin.sub === user.sub ? ['sub', `sub ${twin.sub}`] : ['username', `name ${twin.username}`]
      throw refused('exists', `${file}: users has a user with the ${what} already; edit it there`, { member })
    }
    const problem = user.password === undefined ? undefined : passwordHashProblem(user.password)
    if (problem === undefined) return
    throw refused('invalid', `user ${user.sub}: password: ${problem}`, { member: 'password' })
  }
}
