import type { StoredUsers, UserState } from '@grantry/administration'
import { type ActiveQuestion, foldedUsername, type UserService } from '@grantry/core'
import {
  createConcurrencyLimit,
  createPasswordCheck,
  type Derive,
  parsePasswordHash,
  passwordLimits,
} from '@grantry/users/password-hash'
import type { ConfiguredUser } from '../configuration/users-schema.ts'

export interface ConfiguredUsersOptions {
  /** More users, in the storage. */
  readonly stored?: StoredUsers | undefined
  /** Some of the stored hashes. */
  readonly hashes?: readonly string[] | undefined
  /** Replaces the computation of hashes in tests. */
  readonly derive?: Derive | undefined
}

/** @throws TypeError if two users have the same name or `sub`. */
function byNameAndSub(users: readonly ConfiguredUser[]) {
  const byName = new Map<string, ConfiguredUser>()
  const states = new Map<string, UserState>()
  for (const user of users) {
    const name = foldedUsername(user.username)
    const twin = byName.get(name)?.username
    if (twin !== undefined) {
      const reason = twin === user.username ? '' : `, which ${twin} is, too: case and Unicode forms are ignored`
      throw new TypeError(`users: two users have the username ${user.username}${reason}`)
    }
    if (states.has(user.sub)) throw new TypeError(`users: two users have the sub ${user.sub}`)
    byName.set(name, user)
    states.set(user.sub, { isActive: user.active, claims: user.claims })
  }
  return { byName, states }
}

/** A read from the memory of the process needs no promise. */
const whenRead = <R>(
  state: UserState | undefined | Promise<UserState | undefined>,
  read: (state: UserState | undefined) => R,
): R | Promise<R> => (state instanceof Promise ? state.then(read) : read(state))

type HasUser = (sub: string) => boolean | Promise<boolean>

const having = new WeakMap<UserService, HasUser>()

/** Returns whether a user is in the configuration or in the storage, active or not; `undefined` if the service is another one. */
export const hasUserOf = (users: UserService): HasUser | undefined => having.get(users)

/**
 * Creates a user service from the users of a configuration, and those in the storage.
 *
 * @throws TypeError if two users have the same name or `sub`.
 */
export function configuredUsers(
  users: readonly ConfiguredUser[],
  { stored, hashes = [], derive }: ConfiguredUsersOptions = {},
): UserService {
  const { byName, states } = byNameAndSub(users)
  const check = createPasswordCheck(
    [...users.map(({ password }) => password), ...hashes.flatMap((hash) => parsePasswordHash(hash) ?? [])],
    derive,
  )
  const limited = createConcurrencyLimit(passwordLimits)
  const stateOf = (sub: string) => states.get(sub) ?? stored?.stateOf(sub)
  const currentStateOf = (sub: string) => states.get(sub) ?? stored?.currentStateOf(sub)
  const service: UserService = {
    async authenticate({ username, password }) {
      const configured = byName.get(foldedUsername(username))
      // Looks in the storage even for a configured user, so that the time does not reveal where users are.
      const inStorage = await stored?.find(username)
      const hash =
        configured?.password ?? (inStorage?.password === undefined ? undefined : parsePasswordHash(inStorage.password))
      const matches = await limited(() => check(password, hash))
      if (!matches) return undefined
      if (configured !== undefined) return configured.active ? { sub: configured.sub } : undefined
      if (inStorage?.isActive !== true) return undefined
      // The response does not wait for the new hash.
      void inStorage.renew(password)
      return { sub: inStorage.sub }
    },
    // Without configured users, all subjects come from elsewhere (a custom grant), and their state is unknown.
    ...((users.length > 0 || stored !== undefined) && {
      isActive: (sub: string, { begins = false }: Partial<ActiveQuestion> = {}) =>
        whenRead(begins ? currentStateOf(sub) : stateOf(sub), (state) => state?.isActive ?? false),
    }),
    claims: (sub) => whenRead(stateOf(sub), (state) => state?.claims ?? {}),
  }
  having.set(service, (sub) => whenRead(stateOf(sub), (state) => state !== undefined))
  return service
}
