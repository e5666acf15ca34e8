import { passwordOf, user, userCount } from './operations.ts'

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
