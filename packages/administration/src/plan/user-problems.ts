import { foldedUsername } from '@grantry/core'
import type { Managers } from '../managers.ts'
import { assertUser, type StoredUser } from '../users/user.ts'
import { concurrently } from './concurrently.ts'
import type { PlannedEntry } from './planned-kind.ts'

const userOf = ({ value }: PlannedEntry): StoredUser => value as unknown as StoredUser

function formProblem(entry: PlannedEntry): readonly string[] {
  try {
    assertUser(userOf(entry))
    return []
  } catch (thrown) {
    return [`${entry.where}: ${(thrown as Error).message}`]
  }
}

/** Returns what is wrong with declared users: their form, and names that two users would have. */
export async function userProblems(users: readonly PlannedEntry[], managers: Managers): Promise<readonly string[]> {
  const problems = users.flatMap(formProblem)
  if (problems.length > 0) return problems
  const owners = new Map<string, PlannedEntry>()
  for (const entry of users) {
    const { username } = userOf(entry)
    const other = owners.get(foldedUsername(username))
    if (other === undefined) owners.set(foldedUsername(username), entry)
    else problems.push(`${entry.where}: the name ${username} is that of ${other.where}, too`)
  }
  await concurrently(users, async (entry) => {
    const { sub, username } = userOf(entry)
    const owner = await managers.users.find(username)
    if (owner === undefined || owner.id === sub) return
    // The names of both could change together, but not in one step.
    problems.push(
      `${entry.where}: the user ${owner.id} in the storage has the name ${username}; change that user first`,
    )
  })
  return problems
}
