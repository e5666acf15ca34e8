import type { MaybePromise } from '../types.ts'
import type { createDriverCalls } from './driver-calls.ts'
import { failed, textOf } from './driver-calls.ts'
import type { RecordOptions } from './envelope.ts'
import type { RecordCheck, RecordReader } from './record-reader.ts'

/** The new value of a record, and its end (epoch seconds). */
export interface ChangedRecord<T> extends RecordOptions {
  readonly value: T
  readonly expiresAt: number
}

/** Each repetition means that another change succeeded. */
const maxTries = 100

/**
 * Changes a record by what it contains, so that of concurrent changes each is applied to the result of another.
 *
 * @param change is called again when another call has changed the record meanwhile. It has no effects. `undefined` keeps
 * the record as it is
 * @throws OAuthError `temporarily_unavailable` (503) when other calls change the record all the time
 */
export async function updateRecord<T>(
  key: string,
  check: RecordCheck<T>,
  change: (present: T | undefined) => MaybePromise<ChangedRecord<T> | undefined>,
  { calls, reader }: { readonly calls: ReturnType<typeof createDriverCalls>; readonly reader: RecordReader },
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const stored = await calls.read(key)
    const changed = await change(await reader.recordIn(key, stored, check, undefined))
    if (changed === undefined) return
    const item = calls.itemOf({ key, ...changed })
    const isWritten =
      stored === undefined || stored === null
        ? await calls.insertItem(item)
        : await calls.replaceItem(item, textOf(stored))
    if (isWritten) return
  }
  return failed(new Error('Other requests change the record all the time'))
}
