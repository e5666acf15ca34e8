import type { EntryStore } from '@grantry/core'
import { entryValueOf, type Managed } from '../managed-entry.ts'
import type { StoredUser } from './user.ts'
import { userType } from './user-type.ts'

/**
 * Replaces the hash of a password by a better one of the same password, at a sign-in. This is no change of an
 * administrator, so the audit trail does not contain it, and no token ends.
 *
 * @returns whether it was replaced; not if the user was changed since it was read
 */
export async function storePasswordHash(
  entries: Pick<EntryStore, 'replace'>,
  user: Managed<StoredUser>,
  password: string,
): Promise<boolean> {
  const value = entryValueOf(userType.kind, { ...user, value: { ...user.value, password } })
  return (await entries.replace(userType.kind, user.id, user.version, value)) !== undefined
}
