import { refused, type StoredUser } from '@grantry/administration'
import { passwordHashProblem } from '@grantry/users/password-hash'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredUserLike, isUserList } from '../configuration/users-schema.ts'

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
