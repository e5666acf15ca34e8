import type { EntryStore, Runtime } from '@grantry/core'
import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EditOptions, type EntryManager, type ManagedPage, manageEntries } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import { refused } from '../refusal.ts'
import { findUserByAddress, findUserByName } from './find-user.ts'
import { createSearch, type SearchRequest } from './search-users.ts'
import { assertUser, type StoredUser } from './user.ts'
import { userEntries } from './user-entries.ts'
import { userType } from './user-type.ts'

/** A user to add. Default of `sub`: a new one. `password` is a hash. */
export type NewUser = Omit<StoredUser, 'sub'> & { readonly sub?: string | undefined }

export interface AddUserOptions {
  /** The password itself, instead of its hash. */
  readonly newPassword?: string | undefined
}

export interface SetPasswordOptions extends Pick<EditOptions, 'version'> {
  /**
   * Ends the sessions and the tokens of the user instead of this manager, and returns whether the password may still be set.
   * Called after the work of the hash, before the write and after it. Unless it is `true`, or if the user was changed
   * meanwhile, the password is not set.
   */
  readonly isStillAllowed?: (() => Promise<boolean>) | undefined
}

export interface UserManager extends Omit<EntryManager<StoredUser>, 'add'> {
  add(user: NewUser, tags?: readonly string[], options?: AddUserOptions): Promise<Managed<StoredUser>>
  /** Sets a password, and ends the sessions and the tokens of the user. */
  setPassword(sub: string, password: string, options?: SetPasswordOptions): Promise<Managed<StoredUser>>
  /** Finds a user by the name, in any case and Unicode form. */
  find(username: string): Promise<Managed<StoredUser> | undefined>
  /** Finds the user who has verified a mail address. */
  findByAddress(address: string): Promise<Managed<StoredUser> | undefined>
  /** Finds users by the start of their names. */
  search(request: SearchRequest): Promise<ManagedPage<StoredUser>>
}

/** Returns the hash of a password that satisfies `passwordProblem()`. */
export type HashPassword = (password: string) => Promise<string>

type Deps = ManageDeps<StoredUser> & {
  readonly hashPassword: HashPassword
  readonly runtime: Pick<Runtime, 'randomBytes' | 'sha256Hex'>
}

/** Characters. The sign-in accepts no longer password. */
const passwordLength = { least: 8, most: 1024 } as const

/** Returns why a user cannot have this password. @see NIST SP 800-63B section 3.1.1.2 */
export function passwordProblem(password: string): string | undefined {
  const { least, most } = passwordLength
  if (password.length < least || password.length > most) return `must have ${least} to ${most} characters`
  if (password.trim() === '') return 'must not consist of spaces'
  return /[\p{Cc}]/u.test(password) ? 'must not contain line breaks or control characters' : undefined
}

const newSub = ({ randomBytes }: Pick<Runtime, 'randomBytes'>): string =>
  Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the manager of the entries of users and of their names. */
const managerOf = (deps: Deps, entries: EntryStore, by: Administrator): EntryManager<StoredUser> =>
  manageEntries(
    userType,
    {
      ...deps,
      entries,
      async check(user) {
        assertUser(user)
        await deps.check(user)
      },
    },
    by,
  )

/** Manages the users in the storage in the name of an administrator. */
export function manageUsers(deps: Deps, by: Administrator): UserManager {
  const { entries, runtime } = deps
  const manager = managerOf(deps, userEntries(entries, runtime), by)

  async function hashOf(password: string): Promise<string> {
    const problem = passwordProblem(password)
    if (problem !== undefined) throw refused('invalid', `the password ${problem}`, { member: 'password' })
    return deps.hashPassword(password)
  }

  return {
    ...manager,
    async add({ sub = newSub(runtime), ...user }, tags, { newPassword } = {}) {
      const password = newPassword === undefined ? user.password : await hashOf(newPassword)
      return manager.add({ sub, ...user, ...(password !== undefined && { password }) }, tags)
    },
    async setPassword(sub, newPassword, { isStillAllowed, version } = {}) {
      // Read before the work of the hash.
      const seen = await manager.show(sub)
      const isConditional = isStillAllowed !== undefined
      if (isConditional && seen.unfinished === 'revoke') {
        // An earlier change has not revoked the tokens yet, one of which could permit this change.
        await manager.replace(sub, (user) => user, { version: seen.version })
        throw refused('outdated', `the user ${sub} was changed meanwhile`)
      }
      const password = await hashOf(newPassword)
      const options = { version: version ?? (isConditional ? seen.version : undefined), isStillAllowed }
      const action = 'user_password_changed'
      // Ends tokens even if the hash is the same, because this can be the repetition of a change that has failed.
      return manager.replace(sub, (user) => ({ ...user, password }), { ...options, action, endsTokens: true })
    },
    find: (username) => findUserByName(entries, username, runtime),
    findByAddress: (address) => findUserByAddress(entries, address, runtime),
    search: createSearch(entries),
  }
}
