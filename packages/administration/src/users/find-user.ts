import { type EntryStore, type Runtime, webRuntime } from '@grantry/core'
import { type Managed, readEntry } from '../managed-entry.ts'
import type { StoredUser } from './user.ts'
import { type ClaimedText, readNameOwner, userAddress, userName } from './user-names.ts'
import { userType } from './user-type.ts'
import { usernameId } from './username.ts'

/** No user has this `sub`. */
const unusedSub = ' '

async function findByText(
  entries: Pick<EntryStore, 'get'>,
  text: string,
  claimed: ClaimedText,
  runtime: Pick<Runtime, 'sha256Hex'>,
): Promise<Managed<StoredUser> | undefined> {
  const folded = claimed.fold(text)
  const claim = await entries.get(claimed.kind, usernameId(folded, runtime))
  const owner = claim && readNameOwner(claim)
  const entry = await entries.get('user', owner?.sub ?? unusedSub)
  if (owner?.name !== folded || entry === undefined) return undefined
  const user = readEntry(userType, entry)
  // A command can be between the claim and the user, or have been killed there.
  const current = claimed.of(entry)?.text
  return current !== undefined && claimed.fold(current) === folded ? user : undefined
}

/**
 * Finds a user by the name for the sign-in, in any case and Unicode form. Reads as many entries for an unknown name as for
 * a known one.
 *
 * @throws RefusedError `unreadable`, when a newer version, or another program, has written the entry: the user could be
 * disabled.
 */
export const findUserByName = (
  entries: Pick<EntryStore, 'get'>,
  username: string,
  runtime: Pick<Runtime, 'sha256Hex'> = webRuntime,
): Promise<Managed<StoredUser> | undefined> => findByText(entries, username, userName, runtime)

/**
 * Finds the user who has verified a mail address, in any case and Unicode form: `email` of the claims, with
 * `email_verified`. Reads as many entries for an unknown address as for a known one. Mails go to the address of the user,
 * never to the one that was searched for.
 *
 * @throws RefusedError `unreadable`
 */
export const findUserByAddress = (
  entries: Pick<EntryStore, 'get'>,
  address: string,
  runtime: Pick<Runtime, 'sha256Hex'> = webRuntime,
): Promise<Managed<StoredUser> | undefined> => findByText(entries, address, userAddress, runtime)
