import type { Runtime } from '../runtime.ts'
import type { createDriverCalls } from './driver-calls.ts'
import { failed, textOf } from './driver-calls.ts'
import type { RecordOptions } from './envelope.ts'
import type { RecordCheck, RecordReader } from './record-reader.ts'
import { createTurns } from './turns.ts'

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
