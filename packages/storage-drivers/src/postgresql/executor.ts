import { isRolledBack, isUnknown } from './errors.ts'
import type { Query } from './job.ts'
import type { Pool } from './pool.ts'
import type { Result } from './postgresql-connection.ts'

/** Performs statements, and repeats those that are safe to repeat. */
export interface Executor {
  /** A statement that writes nothing: it is repeated once when its connection is lost. */
  read(begin: () => Query): Promise<Result>
  /**
   * A statement that writes. It is never repeated when its outcome is unknown: the repetition could undo a later
   * revocation.
   *
   * @param since when its time limit began, in milliseconds of `performance.now()`. Default: now
   */
  write(begin: () => Query, since?: number): Promise<Result>
}

/** Both repeat a statement that the server has rolled back because of a concurrent one. */
export function createExecutor(pool: Pool, timeout: number): Executor {
  async function perform(begin: () => Query, repetitions: number, since = performance.now()): Promise<Result> {
    const end = since + timeout
    for (let left = repetitions; ; ) {
      try {
        return await pool.run(begin, end - performance.now())
      } catch (error) {
        if (isUnknown(error)) left -= 1
        const mayRepeat = isUnknown(error) ? left >= 0 : isRolledBack(error)
        if (!mayRepeat || performance.now() >= end) throw error
      }
    }
  }

  return {
    read: (begin) => perform(begin, 1),
    write: (begin, since) => perform(begin, 0, since),
  }
}
