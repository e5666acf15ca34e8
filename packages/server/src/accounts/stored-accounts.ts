import {
  type Administration,
  type Managed,
  refusalOf,
  type StoredUser,
  type UserManager,
} from '@grantry/administration'
import type { Json } from '@grantry/core'
import type { Account, AccountStore } from '@grantry/plugins/self-service'
import {
  createConcurrencyLimit,
  createPasswordCheck,
  parsePasswordHash,
  passwordLimits,
} from '@grantry/users/password-hash'

type Claims = Readonly<Record<string, Json>>

function accountOf({ id, value, version }: Managed<StoredUser>): Account {
  const { email, email_verified: isVerified, ...claims } = value.claims ?? {}
  return {
    sub: id,
    username: value.username,
    ...(typeof email === 'string' && email !== '' && { email }),
    emailVerified: isVerified === true,
    claims,
    version,
  }
}

/** The claims of an account, with the address. Further claims cannot contain another one. */
const claimsWith = (
  { email: _, email_verified: __, ...claims }: Claims,
  email: string | undefined,
  emailVerified: boolean,
): Claims => ({
  ...claims,
  ...(email !== undefined && { email, email_verified: emailVerified }),
})

/** Returns claims with some of them changed. */
const withSome = (claims: Claims, some: Claims = {}): Claims =>
  Object.fromEntries(Object.entries({ ...claims, ...some }).filter(([, value]) => value !== null))

/** Returns the result of a change: `taken` if another user has the name or address, `undefined` if there is no user. */
async function outcomeOf(
  change: Promise<Managed<StoredUser>>,
  nothing: readonly unknown[] = ['not_found'],
): Promise<Account | 'taken' | undefined> {
  try {
    return accountOf(await change)
  } catch (thrown) {
    const reason = refusalOf(thrown)?.reason
    if (reason === 'exists') return 'taken'
    if (nothing.includes(reason)) return undefined
    throw thrown
  }
}

/** Replaces refusals of the storage: their messages contain names and addresses, which must not get into a log. */
const withoutDetails =
  <A extends readonly unknown[], T>(call: (...values: A) => Promise<T>) =>
  async (...values: A): Promise<T> => {
    try {
      return await call(...values)
    } catch (thrown) {
      const reason = refusalOf(thrown)?.reason
      throw reason === undefined ? thrown : new Error(`The storage has refused a request for an account (${reason})`)
    }
  }

/**
 * The users in the storage as accounts. Changes are in the audit trail, in the name of the user.
 *
 * @param administration called when the first request needs it
 */
export function storedAccounts(administration: () => Administration): AccountStore {
  let opened: Administration | undefined
  const usersOf = (who: string): UserManager => {
    opened ??= administration()
    return opened.as({ who }).users
  }
  const reader = (): UserManager => usersOf('account')
  const check = createPasswordCheck([])
  const limited = createConcurrencyLimit(passwordLimits)
  const accountIn = (user: Managed<StoredUser> | undefined): Account | undefined => user && accountOf(user)
  async function findUser(sub: string): Promise<Managed<StoredUser> | undefined> {
    try {
      return await reader().show(sub)
    } catch (thrown) {
      if (refusalOf(thrown)?.reason === 'not_found') return undefined
      throw thrown
    }
  }

  return {
    find: withoutDetails(async (sub) => accountIn(await findUser(sub))),
    findByName: withoutDetails(async (username) => accountIn(await reader().find(username))),
    findByEmail: withoutDetails(async (email) => accountIn(await reader().findByAddress(email))),
    create: withoutDetails(async ({ username, email, emailVerified, password, claims = {} }) => {
      const user = { username, claims: claimsWith(claims, email, emailVerified) }
      const added = usersOf('sign-up').add(user, [], { newPassword: password })
      const outcome = await outcomeOf(added)
      if (outcome === undefined) throw new TypeError('The storage has not created an account')
      return outcome
    }),
    change: withoutDetails(
      async (sub, { claims, someClaims, username, email, emailVerified, password, version, isStillAllowed }) => {
        const users = usersOf(`account ${sub}`)
        const isConditional = (version ?? isStillAllowed) !== undefined
        const nothing = isConditional ? ['not_found', 'outdated'] : ['not_found']
        let seen = version
        let outcome: Account | 'taken' | undefined
        if ((claims ?? someClaims ?? username) !== undefined || email !== undefined || emailVerified !== undefined) {
          // If the password changes, too, the check is made below.
          const options = { version, isStillAllowed: password === undefined ? isStillAllowed : undefined }
          const update = (user: StoredUser): StoredUser => {
            const { email: oldEmail, email_verified: wasVerified, ...others } = user.claims ?? {}
            const address = email ?? (typeof oldEmail === 'string' ? oldEmail : undefined)
            // A new address is not verified.
            const isVerified =
              emailVerified ?? (email === undefined || email === oldEmail ? wasVerified === true : false)
            return {
              ...user,
              username: username ?? user.username,
              claims: claimsWith(claims ?? withSome(others, someClaims), address, isVerified),
            }
          }
          outcome = await outcomeOf(users.replace(sub, update, options), nothing)
          if (outcome === undefined || outcome === 'taken') return outcome
          seen = outcome.version
        }
        if (password === undefined) return outcome ?? accountIn(await findUser(sub))
        return outcomeOf(users.setPassword(sub, password, { isStillAllowed, version: seen }), nothing)
      },
    ),
    checkPassword: withoutDetails(async (sub, password) => {
      const hash = (await findUser(sub))?.value.password
      return limited(() => check(password, hash === undefined ? undefined : parsePasswordHash(hash)))
    }),
    remove: withoutDetails(async (sub) => {
      if ((await findUser(sub)) === undefined) return false
      await usersOf(`account ${sub}`).remove(sub)
      return true
    }),
  }
}
