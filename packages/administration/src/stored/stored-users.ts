import type { EntryStore, Json } from '@grantry/core'
import { kinds } from '../kinds/kinds.ts'
import { type Managed, readEntry } from '../managed-entry.ts'
import { findUserByName } from '../users/find-user.ts'
import { storePasswordHash } from '../users/store-password.ts'
import type { StoredUser } from '../users/user.ts'
import { createEntryCache } from './entry-cache.ts'

/** The state of a user that requests need. It has no password, because a process remembers it. */
export interface UserState {
  readonly isActive: boolean
  readonly claims: Readonly<Record<string, Json>>
}

/** A user who signs in. */
export interface SigningUser extends Pick<UserState, 'isActive'> {
  readonly sub: string
  /** The hash of the password. */
  readonly password: string | undefined
  /** Replaces the hash, if it is weak. Call it with the right password. Never rejects. */
  renew(password: string): Promise<void>
}

/** The users in the storage, as the sign-in and the endpoints read them. */
export interface StoredUsers {
  /** Finds a user by the name. Takes the same time for an unknown one. */
  find(username: string): Promise<SigningUser | undefined>
  /** Reads a user at most once in the seconds of a cache. */
  stateOf(sub: string): UserState | undefined | Promise<UserState | undefined>
  /** Reads a user. What requests remember is current afterwards. */
  currentStateOf(sub: string): Promise<UserState | undefined>
}

export interface StoredUsersOptions {
  readonly entries: Pick<EntryStore, 'get' | 'getWithRevision' | 'replace'>
  /** Seconds for which the state of a user is used without reading it again. */
  readonly cacheFor: number
  /** Returns a new hash of a password if the present hash is weak; `undefined` if it is not. */
  readonly renewHash: (present: string, password: string) => Promise<string | undefined>
  /** Epoch seconds. */
  readonly now?: (() => number) | undefined
}

const isActive = ({ active }: StoredUser): boolean => active !== false

export function storedUsers({
  entries,
  cacheFor,
  renewHash,
  now = () => Math.floor(Date.now() / 1000),
}: StoredUsersOptions): StoredUsers {
  const cache = createEntryCache<UserState>({
    entries,
    kind: 'user',
    cacheFor,
    parse(entry) {
      const { value } = readEntry(kinds.user.type, entry)
      return { isActive: isActive(value), claims: value.claims ?? {} }
    },
  })

  const renewalOf = (user: Managed<StoredUser>) => async (password: string) => {
    const present = user.value.password
    if (present === undefined) return
    try {
      const renewed = await renewHash(present, password)
      if (renewed !== undefined) await storePasswordHash(entries, user, renewed)
    } catch {
      // The storage reports its failures, and the queue of new hashes can be full. The next sign-in tries again.
    }
  }

  return {
    async find(username) {
      const user = await findUserByName(entries, username)
      if (user === undefined) return undefined
      const { value, id } = user
      return { sub: id, isActive: isActive(value), password: value.password, renew: renewalOf(user) }
    },
    stateOf: (sub) => cache.find(sub, now()),
    currentStateOf: (sub) => cache.read(sub, now()),
  }
}

/** How many users are read at the start. */
const sampleSize = 200

/**
 * Returns hashes of some users, so that the check of passwords knows the usual costs from the start: until the check
 * has seen a cost, an attempt for an unknown name would take less time than one for a user with this cost.
 */
export async function sampleOfHashes(entries: Pick<EntryStore, 'list'>): Promise<readonly string[]> {
  const page = await entries.list('user', { limit: sampleSize })
  return page.entries.flatMap((entry) => {
    const password = (entry.value as { readonly user?: { readonly password?: unknown } } | null)?.user?.password
    return typeof password === 'string' ? [password] : []
  })
}
