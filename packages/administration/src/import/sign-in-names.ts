import { foldedUsername } from '@grantry/core'
import type { Members } from '../differences.ts'
import { usernameProblem } from '../users/username.ts'
import type { Finding, ImportedNames } from './imported.ts'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const claimsOf = ({ claims }: Members): Members => (claims ?? {}) as Members
const addressOf = (user: Members): string => textOf(claimsOf(user).email)
const keysOf = (user: Members): ReadonlySet<string> =>
  new Set([textOf(user.username), addressOf(user)].filter((text) => text !== '').map(foldedUsername))

/** Returns names and addresses with the number of users who have them. */
function ownersIn(users: readonly Members[]): ReadonlyMap<string, number> {
  const owners = new Map<string, number>()
  for (const key of users.flatMap((user) => [...keysOf(user)])) owners.set(key, (owners.get(key) ?? 0) + 1)
  return owners
}

/** Returns why an address cannot be the name of its user; `undefined` if it can. */
function problemOf(user: Members, owners: ReadonlyMap<string, number>): string | undefined {
  const address = addressOf(user)
  if (claimsOf(user).email_verified !== true) return 'it is not verified'
  if ((owners.get(foldedUsername(address)) ?? 0) > 1) return 'another user has it, too'
  const problem = usernameProblem(address)
  return problem && `it ${problem}`
}

/**
 * Returns users of a system in which they sign in with their names or their addresses. Here, a user has one name: a verified
 * address that only this user has becomes it, if that is asked for. The claim `preferred_username` stays.
 */
export function withSignInNames(
  users: readonly Members[],
  names: ImportedNames | undefined,
  findings: Finding[],
): readonly Members[] {
  const owners = ownersIn(users)
  return users.map((user) => {
    // With one key, the name is the address.
    if (addressOf(user) === '' || keysOf(user).size === 1) return user
    const add = (outcome: Finding['outcome'], what: string): void => {
      findings.push({ entry: `user ${user.username}`, member: 'email', what, outcome, consequence: 'sign-in' })
    }
    const problem = problemOf(user, owners)
    if (names === 'address' && problem === undefined) {
      add('changed', 'the user signs in with the address, and no longer with the name')
      return { ...user, username: addressOf(user) }
    }
    const remedy = problem === undefined ? 'import with --names address, or ' : ''
    const why = problem === undefined ? '' : `, because ${problem}`
    add('lost', `the user cannot sign in with the address${why}: ${remedy}say that the name counts`)
    return user
  })
}
