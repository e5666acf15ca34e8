import { setImmediate } from 'node:timers'
import type { SqlDatabase } from './engine.ts'
import { sqliteCode } from './errors.ts'
import type { Step } from './item-table.ts'
import { rollBack } from './open-database.ts'

/** Writes that share a transaction. */
export interface Batch {
  /** Performs a write at the end of this turn of the event loop. */
  add<T>(step: Step<T>): Promise<T>
  /** Resolves when no write waits. */
  settled(): Promise<void>
}

export interface BatchSettings {
  /** @throws Error when the file cannot be opened */
  database(): SqlDatabase
  /** Returns the error to reject with. */
  handle(error: unknown): unknown
  /** Milliseconds until the next attempt after another process had the lock. */
  retryPause(): number
  /** Milliseconds for which a write waits for another process. */
  readonly timeout: number
}

interface Write {
  readonly step: Step<unknown>
  readonly deadline: number
  /** Whether the write has a transaction of its own, because a shared one has failed. */
  readonly isAlone: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** The outcome of a transaction. `none`: nothing was written. `unknown`: the commit failed. */
type Outcome =
  | { readonly written: 'all'; readonly results: readonly unknown[] }
  | { readonly written: 'none' | 'unknown'; readonly error: unknown }

/** Maximum number of writes in a transaction: it blocks the event loop, and the writes of other processes. */
const maxBatch = 256

/**
 * Milliseconds. A process that has held the lock for this time, with short gaps only, pauses for others, whose attempts
 * would miss the gaps.
 */
const longestTurn = 100
/** Milliseconds; longer than the time between two attempts of others. */
const turnOfOthers = 6

function perform(open: () => SqlDatabase, writes: readonly Write[]): Outcome {
  let database: SqlDatabase | undefined
  let written: 'none' | 'unknown' = 'none'
  try {
    const opened = open()
    opened.run('BEGIN IMMEDIATE')
    database = opened
    const results = writes.map(({ step }) => step(opened))
    written = 'unknown'
    opened.run('COMMIT')
    return { written: 'all', results }
  } catch (error) {
    if (database !== undefined) rollBack(database)
    return { written, error }
  }
}

/**
 * Performs the writes of one turn of the event loop in one transaction, because each transaction waits for the disk.
 * While another process has the lock, they wait outside of SQLite, together with the writes of later turns.
 */
export function createBatch({ database, handle, retryPause, timeout }: BatchSettings): Batch {
  let waiting: Write[] = []
  let running: Promise<void> | undefined
  /** Milliseconds for which this process has held the lock, with short gaps only. */
  let held = 0
  let releasedAt = Number.NEGATIVE_INFINITY

  /** Returns the writes of the next transaction. */
  function next(): readonly Write[] {
    const shared = waiting.findIndex(({ isAlone }) => isAlone)
    return waiting.slice(0, shared === 0 ? 1 : Math.min(maxBatch, shared < 0 ? maxBatch : shared))
  }

  function settle(writes: readonly Write[], outcome: Outcome): void {
    if (outcome.written === 'all') {
      for (const [index, { resolve }] of writes.entries()) resolve(outcome.results[index])
      return
    }
    const isFinal = writes.length === 1 || outcome.written === 'unknown'
    const error = handle(outcome.error)
    // One by one, before later writes, because one may hit a damaged page. They wait for a lock like all others.
    if (!isFinal) waiting = [...writes.map((write) => ({ ...write, isAlone: true })), ...waiting]
    else for (const { reject } of writes) reject(error)
  }

  /** Returns whether to pause, because another process has the lock. */
  function flush(): boolean {
    const writes = next()
    const start = performance.now()
    const outcome = perform(database, writes)
    const now = performance.now()
    const isLocked = outcome.written === 'none' && sqliteCode(outcome.error) === 'BUSY'
    if (!isLocked) {
      held += now - start
      releasedAt = now
      waiting = waiting.slice(writes.length)
      settle(writes, outcome)
      return false
    }
    held = 0
    const late = waiting.filter(({ deadline }) => deadline <= now)
    waiting = waiting.filter(({ deadline }) => deadline > now)
    const error = handle(outcome.error)
    for (const { reject } of late) reject(error)
    return true
  }

  /** Resolves when the next transaction may begin. */
  const nextTurn = (isLocked: boolean): Promise<void> =>
    new Promise((resolve) => {
      const hadGap = performance.now() - releasedAt >= turnOfOthers
      const isLong = held >= longestTurn && !hadGap
      if (isLong || hadGap) held = 0
      if (isLocked) setTimeout(resolve, retryPause())
      else if (isLong) setTimeout(resolve, turnOfOthers)
      else setImmediate(resolve)
    })

  async function run(): Promise<void> {
    for (let isLocked = false; ; ) {
      await nextTurn(isLocked)
      isLocked = flush()
      if (waiting.length === 0) break
    }
    // In the same turn as the check that no write waits: another one can arrive in the next microtask.
    running = undefined
  }

  return {
    add: <T>(step: Step<T>) =>
      new Promise<T>((resolve, reject) => {
        const deadline = performance.now() + timeout
        waiting.push({ step, deadline, isAlone: false, resolve: resolve as Write['resolve'], reject })
        running ??= run()
      }),
    async settled() {
      while (running !== undefined) await running
    },
  }
}
