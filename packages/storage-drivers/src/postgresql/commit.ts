import type { DriverChanges, DriverItem } from '@grantry/core'
import { codeOf } from './errors.ts'
import type { Executor } from './executor.ts'
import { futureOf, keyArray, keyOf, numberArray, storable, textArray } from './parameters.ts'
import type { Statements } from './statements.ts'

interface StoredItem {
  readonly key: string
  /** The key of the driver. */
  readonly name: string
  readonly value: string
  readonly lifetime: number
}

// In one order, so that two commits do not wait for each other.
const storedItems = (items: readonly DriverItem[]): readonly StoredItem[] =>
  items
    .map(({ key, value, ttl }) => ({
      key: keyOf(key),
      name: key,
      value: storable(value),
      lifetime: futureOf(ttl, 'a committed item'),
    }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))

const parametersOf = (items: readonly StoredItem[]): readonly string[] => [
  keyArray(items.map(({ key }) => key)),
  textArray(items.map(({ value }) => value)),
  numberArray(items.map(({ lifetime }) => lifetime)),
]

/** SQLSTATE of a commit that has lost a race for a part of its items. */
const lostRace = '22P02'

/** Each one fails only if other commits create an item and remove it again. */
const maxAttempts = 10

/** Returns the keys in an array of PostgreSQL: `{00…,00…}`. */
const keysIn = (array: string): ReadonlySet<string> =>
  new Set([...array.matchAll(/[0-9a-f]+/gu)].map(([key]) => `\\x${key}`))

/** Performs a commit with one statement. */
export function createCommit(executor: Executor, { commit, read }: Pick<Statements, 'commit' | 'read'>) {
  async function existingOf(items: readonly StoredItem[]): Promise<readonly string[]> {
    const values = [keyArray(items.map(({ key }) => key))]
    const { rows } = await executor.read(() => ({ statement: read, values }))
    const found = new Set(rows.map(([key]) => `\\x${key}`))
    return items.flatMap(({ key, name }) => (found.has(key) ? [name] : []))
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

  return async ({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> => {
    const created = storedItems(create)
    const values = [...parametersOf(created), ...parametersOf(storedItems(put)), keyArray(remove.map(keyOf))]
    for (let attempts = 1; attempts <= maxAttempts; attempts += 1) {
      const outcome = await attempt(created, values)
      if (outcome === true || outcome.length > 0) return outcome
      // Another commit has created an item after this statement had begun. It may be gone by now.
      const existing = await existingOf(created)
      if (existing.length > 0) return existing
    }
    throw new Error('A commit has lost a race for its items again and again')
  }
}
