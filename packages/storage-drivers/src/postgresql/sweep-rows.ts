import type { SweepStep } from '../sql/sweeper.ts'
import { isUnknown } from './errors.ts'
import type { Executor } from './executor.ts'
import type { Statements } from './statements.ts'

/**
 * Returns the step of a sweeper. The index has the entries of removed rows until the table is vacuumed, so a step after
 * a full one begins where that one ended.
 */
export function sweepRows(executor: Executor, { sweep }: Pick<Statements, 'sweep'>) {
  let start = '-infinity'
  return async (limit: number): Promise<SweepStep> => {
    const values = [limit, start]
    const rows = await executor
      .write(() => ({ statement: sweep, values }))
      .then(
        (result) => result.rows,
        (error: unknown) => {
          // The requests report that the database is away.
          start = '-infinity'
          if (isUnknown(error)) return []
          throw error
        },
      )
    const [count, age, last] = rows[0] ?? []
    const removed = Number(count ?? 0)
    start = removed >= limit && last ? last : '-infinity'
    return { removed, age: Number(age ?? 0) }
  }
}
