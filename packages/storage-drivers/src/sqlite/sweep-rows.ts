import type { MaybePromise } from '@grantry/core'
import type { SweepStep } from '../sql/sweeper.ts'
import type { SqlDatabase } from './engine.ts'
import type { ItemTable, Step } from './item-table.ts'

/** Milliseconds for which a step should block the event loop. */
const budget = 10

/**
 * Rows of a step. With fewer, most of the time would be that of the disk, which a transaction takes once. Each row
 * changes two pages or more, and at a thousand changed pages SQLite moves all of them from its log to the file.
 */
const sizes = { first: 100, fewest: 50, most: 200 }

/** Returns the number of rows of the next step, after one that was full. It at most doubles, and at least halves. */
function nextSize(size: number, took: number): number {
  const factor = Math.min(2, Math.max(0.5, budget / took))
  return Math.min(sizes.most, Math.max(sizes.fewest, Math.round(size * factor)))
}

/**
 * Returns the step of a sweeper: one transaction, with as many rows as the disk allows in the time for which it may
 * block the event loop.
 *
 * @param run performs the step on the database
 * @param transact performs a function in a transaction
 * @param now milliseconds
 */
export function sweepRows(
  table: Pick<ItemTable, 'sweep'>,
  run: <T>(step: Step<T>) => MaybePromise<T>,
  transact: <T>(database: SqlDatabase, act: () => T) => T,
  now: () => number = () => performance.now(),
): () => MaybePromise<SweepStep> {
  let size = sizes.first
  return () =>
    run((database) => {
      const start = now()
      const step = transact(database, () => table.sweep(size)(database))
      if (step.isFull) size = nextSize(size, now() - start)
      return step
    })
}

/** Removes every expired row, in steps, and returns how many there were. */
export async function purgeRows(sweep: () => MaybePromise<SweepStep>): Promise<number> {
  for (let removed = 0; ; ) {
    const step = await sweep()
    removed += step.removed
    if (!step.isFull) return removed
    // The steps are synchronous.
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
}
