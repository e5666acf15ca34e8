import type { DriverChanges } from '@grantry/core'
import { codeOf } from './errors.ts'
import type { Executor } from './executor.ts'
import { keyArray, keyOf } from './parameters.ts'
import type { Statements } from './postgresql-statements.ts'
import { itemParameters, type StoredItem, storedItems } from './stored-item.ts'
import type { Write } from './writes.ts'

/** SQLSTATE of a commit that has lost a race for a part of its items. */
const lostRace = '22P02'

/** Each one fails only if other commits create an item and remove it again. */
const maxAttempts = 10

/** Returns the keys in an array of PostgreSQL: `{00…,00…}`. */
const keysIn = (array: string): ReadonlySet<string> =>
  new Set([...array.matchAll(/[0-9a-f]+/gu)].map(([key]) => `\\x${key}`))

// In one order, so that two commits do not wait for each other.
const inOrder = (items: readonly StoredItem[]): readonly StoredItem[] =>
  [...items].sort((left, right) => (left.key < right.key ? -1 : 1))

/** Performs a commit with one statement. @param write performs those that create one item at most and remove none */
export function createCommit(
  executor: Executor,
  { commit, read }: Pick<Statements, 'commit' | 'read'>,
  write: (write: Write) => Promise<boolean>,
) {
  async function existingOf(items: readonly StoredItem[]): Promise<readonly string[]> {
    const values = [keyArray(items.map(({ key }) => key))]
    const { rows } = await executor.read(() => ({ statement: read, values }))
    const existingKeys = new Set(rows.map(([key]) => `\\x${key}`))
    return items.flatMap(({ key, name }) => (existingKeys.has(key) ? [name] : []))
  }

  /** Returns nothing if a race was lost, and the items that existed are unknown. */
  async function attempt(created: readonly StoredItem[], values: readonly string[]): Promise<true | readonly string[]> {
    try {
      const { rows } = await executor.write(() => ({ statement: commit, values }))
      const [isComplete, existing] = rows[0] ?? []
      if (isComplete === 't') return true
      const keys = keysIn(existing ?? '')
      return created.flatMap(({ key, name }) => (keys.has(key) ? [name] : []))
    } catch (error) {
      if (codeOf(error) === lostRace) return []
      throw error
    }
  }

  async function commitAll(
    created: readonly StoredItem[],
    put: readonly StoredItem[],
    remove: readonly string[],
  ): Promise<true | readonly string[]> {
    const values = [...itemParameters(created), ...itemParameters(inOrder(put)), keyArray(remove.map(keyOf))]
    for (let attempts = 1; attempts <= maxAttempts; attempts += 1) {
      const outcome = await attempt(created, values)
      if (outcome === true || outcome.length > 0) return outcome
      // Another commit has created an item after this statement had begun. It may be gone by now.
      const existing = await existingOf(created)
      if (existing.length > 0) return existing
    }
    throw new Error('A commit has lost a race for its items again and again')
  }

  return async ({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> => {
    const [created, stored] = [storedItems(create), storedItems(put)]
    const [only] = created
    if (created.length > 1 || remove.length > 0) return commitAll(inOrder(created), stored, remove)
    const isStored = await write(only === undefined ? { put: stored } : { create: only, put: stored })
    return isStored || [only?.name ?? '']
  }
}
