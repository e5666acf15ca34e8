import { type Entry, type EntryStore, foldedAddress, foldedUsername, isJsonObject, type Runtime } from '@grantry/core'
import { managedIn } from '../managed-entry.ts'
import { refused } from '../refusal.ts'
import { userType } from './user-type.ts'
import { usernameId } from './username.ts'

/**
 * The record of a name. It is valid only if the user has this name, because a command can be killed between the two
 * writes.
 */
export interface NameOwner {
  /** The folded name. */
  readonly name: string
  readonly sub: string
}

/** A text of users that belongs to one of them: the name, or the mail address that the user has verified. */
export interface ClaimedText {
  readonly kind: 'user-name' | 'user-address'
  /** For messages, such as `user name`. */
  readonly noun: string
  /** For messages, such as `with the name`. */
  readonly having: string
  readonly member: string
  /** Maps all spellings to one text. */
  fold(text: string): string
  /** Returns the text of a user; nothing if the user has none, `undefined` if the entry has an unknown form. */
  of(user: Entry): { readonly text?: string } | undefined
}

export const userName: ClaimedText = {
  kind: 'user-name',
  noun: 'user name',
  having: 'with the name',
  member: 'username',
  fold: foldedUsername,
  of(user) {
    const text = usernameOf(user)
    return text === undefined ? undefined : { text }
  },
}

/** An address that is not verified belongs to no user, so that no user can block that of another one. */
export const userAddress: ClaimedText = {
  kind: 'user-address',
  noun: 'mail address',
  having: 'who has verified the mail address',
  member: 'claims',
  fold: foldedAddress,
  of(user) {
    const managed = managedIn(userType, user)
    if (managed === undefined) return undefined
    const { email, email_verified: isVerified } = managed.value.claims ?? {}
    return typeof email === 'string' && email !== '' && isVerified === true ? { text: email } : {}
  },
}

/** The entry of a name, in the version of the user who has it, or is about to get it. */
export interface ClaimedName {
  readonly id: string
  readonly version: string
  /** Whether the name belonged to no user, or to another one, before. */
  readonly isNew: boolean
}

/** The maximum number of attempts to claim a name that others change at the same time. */
const maxTries = 20

/** Reads the entry of a name. Returns `undefined` if a newer version, or another program, has written it. */
export const nameOwnerIn = ({ value }: Entry): NameOwner | undefined =>
  isJsonObject(value) && typeof value.name === 'string' && typeof value.sub === 'string'
    ? { name: value.name, sub: value.sub }
    : undefined

/** @throws RefusedError `unreadable` */
export function readNameOwner(entry: Entry): NameOwner {
  const owner = nameOwnerIn(entry)
  if (owner !== undefined) return owner
  const message = `the stored user name ${entry.id} has an unknown form; a newer version may have written it`
  throw refused('unreadable', message)
}

/** Returns the name of a user; `undefined` if the entry has an unknown form. */
function usernameOf(user: Entry): string | undefined {
  const username: unknown = managedIn(userType, user)?.value.username
  return typeof username === 'string' ? username : undefined
}

/** The names or addresses of users: each belongs to one. */
export interface UserNames extends Pick<ClaimedText, 'fold'> {
  /**
   * Gives a name to a user, before the user gets it. Takes it from a user who does not have it, because a command was
   * killed; a command that is about to give it to that user fails.
   *
   * @throws RefusedError `exists` when another user has it.
   */
  claim(username: string, sub: string): Promise<ClaimedName>
  /** Returns the entry of a name, if it is that of this user. */
  find(username: string, sub: string): Promise<ClaimedName | undefined>
  /** Frees a name, unless it was claimed again meanwhile. */
  release(claimed: ClaimedName): Promise<void>
}

export function createUserNames(
  entries: EntryStore,
  runtime: Pick<Runtime, 'sha256Hex'>,
  { kind, noun, having, member, fold, of }: ClaimedText = userName,
): UserNames {
  /**
   * Ends the claim of a user who does not have the name. Changes the user, or uses up the `sub`, so that a command that
   * has read the user before can no longer give it the name.
   *
   * @returns whether it has ended; not if the user was changed meanwhile
   */
  async function endClaim({ name, sub }: NameOwner, username: string): Promise<boolean> {
    const user = await entries.get('user', sub)
    if (user === undefined) return entries.retire('user', sub)
    const current = of(user)
    if (current === undefined || (current.text !== undefined && fold(current.text) === name)) {
      const message = `there is a user ${having} ${username} already (sub ${sub}); choose another ${kind === 'user-name' ? 'name' : 'address'}`
      throw refused('exists', message, { member })
    }
    return (await entries.replace('user', sub, user.version, user.value)) !== undefined
  }

  /** Claims a name once. `undefined` if another call changes it at the same time. */
  async function attempt(username: string, sub: string): Promise<ClaimedName | undefined> {
    const name = fold(username)
    const id = usernameId(name, runtime)
    const value = { name, sub }
    const entry = await entries.get(kind, id)
    if (entry === undefined) {
      const created = await entries.create(kind, id, value)
      return created && { id, version: created.version, isNew: true }
    }
    const owner = readNameOwner(entry)
    const isNew = owner.sub !== sub
    if (isNew && !(await endClaim(owner, username))) return undefined
    // Writes a new version even for the same user, so that a command that has read the entry before can no longer take
    // it.
    const replaced = await entries.replace(kind, id, entry.version, value)
    return replaced && { id, version: replaced.version, isNew }
  }

  return {
    fold,
    async claim(username, sub) {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const claimed = await attempt(username, sub)
        if (claimed !== undefined) return claimed
      }
      throw refused('outdated', `others change the ${noun} ${username} at the same time; try again`)
    },
    async find(username, sub) {
      const id = usernameId(fold(username), runtime)
      const entry = await entries.get(kind, id)
      return entry && readNameOwner(entry).sub === sub ? { id, version: entry.version, isNew: false } : undefined
    },
    async release({ id, version }) {
      await entries.remove(kind, id, version)
    },
  }
}
