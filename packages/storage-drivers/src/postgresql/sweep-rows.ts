import type { SweepStep } from '../sql/sweeper.ts'
import { isUnknown } from './errors.ts'
import type { Executor } from './executor.ts'
import type { Statements } from './postgresql-statements.ts'

/** Rows in a step: it holds locks for some milliseconds. */
const limit = 1000

/** Seconds before a step that the next one searches again: other processes may have locked rows in them. */
const overlap = 10

/** Searches from the first end take at most this share of the time. */
const fullSearchShare = 0.01

/** Milliseconds since the epoch; a clock that is set does not change it. */
const monotonicNow = (): number => performance.timeOrigin + performance.now()

/**
 * Returns the step of a sweeper. The index has the entries of removed rows until the table is vacuumed, which a backup
 * prevents for as long as it takes. So a step begins where the one before ended, and searches from the first end are
 * rarer the longer they take. They find what was locked for long by a transaction that was undone.
 */
export function sweepRows(
  executor: Executor,
  { sweep }: Pick<Statements, 'sweep'>,
  now: () => number = monotonicNow,
): () => Promise<SweepStep> {
  /** In seconds since the epoch, by the clock of the database. */
  let start = '-infinity'
  let nextFullSearch = Number.NEGATIVE_INFINITY

  async function perform(from: string): Promise<SweepStep> {
    const values = [limit, from, overlap]
    const { rows } = await executor.write(() => ({ statement: sweep, values }))
    const [count, age, next] = rows[0] ?? []
    const removed = Number(count ?? 0)
    start = next ?? from
    return { removed, age: Number(age ?? 0), isFull: removed >= limit }
  }

  async function searchAll(): Promise<SweepStep> {
    const begin = now()
    // If it takes too long, the next step continues with the rows that have just ended.
    if (start === '-infinity') start = String(begin / 1000 - overlap)
    try {
      return await perform('-infinity')
    } finally {
      nextFullSearch = now() + (now() - begin) / fullSearchShare
    }
  }

  return async () => {
    try {
      return await (now() < nextFullSearch ? perform(start) : searchAll())
    } catch (error) {
      // The requests report that the database is unreachable.
      if (isUnknown(error)) return { removed: 0, age: 0, isFull: false }
      throw error
    }
  }
}
