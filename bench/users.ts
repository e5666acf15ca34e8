import { passwordOf, user, userCount } from './operations.ts'
import type { Setting } from './setting.ts'

export const usernames: readonly string[] = Array.from({ length: userCount }, (_, index) => `user${index}`)

interface KnownUser {
  readonly password: string
  readonly sub: string
}

/** Every user by name. Passwords are not hashed: a hash takes longer than everything else together. */
export const users: ReadonlyMap<string, KnownUser> = new Map([
  [user.username, user],
  ...usernames.map((name): [string, KnownUser] => [name, { password: passwordOf(name), sub: name }]),
])

const subs: ReadonlySet<string> = new Set([...users.values()].map(({ sub }) => sub))

export const isUser = (sub: string): boolean => subs.has(sub)

/** Returns the `sub` of the user if the password is right. */
export function subOf(username: string | null | undefined, password: string | null | undefined): string | undefined {
  const known = users.get(username ?? '')
  return known !== undefined && known.password === password ? known.sub : undefined
}

/** The claims of a user of the table, and of the only one without a table. */
export const claimsOf = (sub: string): Readonly<Record<string, string>> =>
  sub === user.sub
    ? user.claims
    : Object.fromEntries(Object.keys(user.claims).map((name) => [name, `${name} ${sub.slice('user'.length)}`]))

/**
 * Returns the owner of the next token. With users in a table, each token has another one: requests for one user would share
 * what is read of it.
 */
export function ownersOf({ usersTable }: Pick<Setting, 'usersTable'>): () => string {
  let next = 0
  return () => {
    next += 1
    return usersTable === undefined ? user.sub : (usernames[next % usernames.length] ?? user.sub)
  }
}
