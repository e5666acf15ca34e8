import { type EntryStore, type Runtime, webRuntime } from '@grantry/core'
import { type Managed, readEntry } from '../managed-entry.ts'
import type { StoredUser } from './user.ts'
import { readNameOwner } from './user-names.ts'
import { userType } from './user-type.ts'
import { foldedUsername, usernameId } from './username.ts'

/** No user has this `sub`. */
const unusedSub = ' '

/**
 * Finds a user by the name for the sign-in, in any case and Unicode form. Reads as many entries for an unknown name as for
 * a known one.
 *
 * @throws RefusedError `unreadable`, when a newer version, or another program, has written the entry: the user could be
 * disabled.
 */
export async function findUserByName(
  entries: Pick<EntryStore, 'get'>,
  username: string,
  runtime: Pick<Runtime, 'sha256Hex'> = webRuntime,
): Promise<Managed<StoredUser> | undefined> {
  const name = foldedUsername(username)
  const found = await entries.get('user-name', usernameId(name, runtime))
  const owner = found && readNameOwner(found)
  const entry = await entries.get('user', owner?.sub ?? unusedSub)
  if (owner?.name !== name || entry === undefined) return undefined
  const user = readEntry(userType, entry)
  // A command can be between the name and the user, or have been killed there.
  return foldedUsername(user.value.username) === name ? user : undefined
}
