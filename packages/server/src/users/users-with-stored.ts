import { findUserByName, type StoredUsersOptions, sampleOfHashes, storedUsers } from '@grantry/administration'
import type { EntryStore, UserService } from '@grantry/core'
import { needsRehash, parsePasswordHash } from '@grantry/users/password-hash'
import type { ConfiguredUser } from '../configuration/users-schema.ts'
import { configuredUsers } from './configured-users.ts'
import { newPasswordsOf } from './hash-new-password.ts'

/** Returns the function that replaces weak hashes of stored users. */
export const hashRenewal =
  (entries: object): StoredUsersOptions['renewHash'] =>
  async (present, password) => {
    const hash = parsePasswordHash(present)
    return hash !== undefined && needsRehash(hash) ? newPasswordsOf(entries)(password) : undefined
  }

/** @throws TypeError when a user, or a name, is in the configuration and in the storage. */
async function assertInOnePlace(users: readonly ConfiguredUser[], entries: EntryStore): Promise<void> {
  const bySub = await entries.getAll(
    'user',
    users.map(({ sub }) => sub),
  )
  const twice = bySub.find((entry) => entry !== undefined)
  if (twice !== undefined) {
    throw new TypeError(
      `users: the user with the sub ${twice.id} is in the storage, too; remove it here, or there with grantry users remove`,
    )
  }
  const byName = await Promise.all(
    users.map(async ({ username }) => ({ username, user: await findUserByName(entries, username) })),
  )
  for (const { username, user } of byName) {
    if (user === undefined) continue
    throw new TypeError(
      `users: the name ${username} belongs to a user in the storage, too (sub ${user.id}); change it here, or there with grantry users edit`,
    )
  }
}

/** Returns the service for the users of a configuration and those in the storage. */
export async function usersWithStored(
  users: readonly ConfiguredUser[],
  { entries, cacheFor }: { readonly entries: EntryStore; readonly cacheFor: number },
): Promise<UserService> {
  await assertInOnePlace(users, entries)
  const stored = storedUsers({ entries, cacheFor, renewHash: hashRenewal(entries) })
  return configuredUsers(users, { stored, hashes: await sampleOfHashes(entries) })
}
