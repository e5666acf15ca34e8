import type { Runtime } from '../runtime.ts'
import type { createDriverCalls } from './driver-calls.ts'
import { failed, textOf } from './driver-calls.ts'
import type { RecordCheck, RecordOptions, RecordReader } from './envelope.ts'

/** The new value of a record, and its end (epoch seconds). */
export interface ChangedRecord<T> extends RecordOptions {
  readonly value: T
  readonly expiresAt: number
}

type Change<T> = (present: T | undefined) => ChangedRecord<T> | undefined

/**
 * Changes a record by what it contains, so that of concurrent changes each is applied to the result of another.
 *
 * @param change is called again when another call has changed the record meanwhile. It has no effects. `undefined` keeps
 * the record as it is
 * @throws OAuthError `temporarily_unavailable` (503) when other calls change the record all the time
 */
export type UpdateRecord = <T>(key: string, check: RecordCheck<T>, change: Change<T>) => Promise<void>

/** Each repetition means that another change succeeded. */
const maxTries = 100

/** Milliseconds. */
const longestPause = 100

/** Milliseconds that changes of one record in this process wait for each other. */
const maxTurnWait = 2000

/** Waits for a random time: of changes that repeat in step, the same ones would win each time. */
const pauseAfter = (tries: number, runtime: Pick<Runtime, 'randomBytes'>): Promise<void> =>
  new Promise((resolve) => {
    const [byte = 0] = runtime.randomBytes(1)
    setTimeout(resolve, (byte / 256) * Math.min(2 ** tries, longestPause))
  })

/** Runs tasks with the same key one after the other. */
export interface Turns {
  /** The number of keys with tasks in progress. */
  readonly size: number
  /** Runs a task when the earlier ones with this key have ended, or after the time limit. */
  take(key: string, task: () => Promise<void>): Promise<void>
}

/** Resolves when a task has ended, with any outcome, or after a time limit. */
const settled = (task: Promise<void>, limit: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, limit)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    task.then(end, end)
  })

/**
 * For tasks that are also correct at the same time, but then disturb each other. One that hangs, or that a runtime has
 * abandoned together with its request, delays another one once.
 *
 * @param limit milliseconds that a task waits at most
 */
export function createTurns(limit: number): Turns {
  // The last task of each key, which is removed with it: memory use is proportional to the tasks in progress.
  const last = new Map<string, Promise<void>>()
  return {
    get size() {
      return last.size
    },
    async take(key, task) {
      const earlier = last.get(key)
      const current = earlier === undefined ? task() : settled(earlier, limit).then(task)
      last.set(key, current)
      try {
        await current
      } finally {
        if (last.get(key) === current) last.delete(key)
      }
    },
  }
}

interface UpdateDeps {
  readonly calls: ReturnType<typeof createDriverCalls>
  readonly reader: RecordReader
  readonly runtime: Pick<Runtime, 'randomBytes'>
}

export function createUpdate({ calls, reader, runtime }: UpdateDeps): UpdateRecord {
  // Callers of this process change a record in the order of their arrival. Only one of them competes with other processes.
  const turns = createTurns(maxTurnWait)

  async function attempt<T>(key: string, check: RecordCheck<T>, change: Change<T>): Promise<boolean> {
    const stored = await calls.read(key)
    const changed = change(await reader.recordIn(key, stored, check, undefined))
    if (changed === undefined) return true
    const item = calls.itemOf({ key, ...changed })
    return stored === undefined || stored === null ? calls.insertItem(item) : calls.replaceItem(item, textOf(stored))
  }

  return (key, check, change) =>
    turns.take(key, async () => {
      for (let tries = 1; !(await attempt(key, check, change)); tries += 1) {
        if (tries === maxTries) return failed(new Error('Other requests change the record all the time'))
        await pauseAfter(tries, runtime)
      }
    })
}
