import type { EndpointKit, Json } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from './kept-record.ts'

/** Seconds after which a marked record ends by itself: a process that dies after the mark completes the removal. */
export const markLifetime = 3600

/** The member of a record that has no effect, because it is being removed, or its addition is not decided yet. */
export const removalMark = { removing: v.exactOptional(v.string()) }

interface Removable {
  readonly [name: string]: Json
  readonly removing?: string
}

/** Returns a record, unless it is marked. */
export const unlessMarked = <T extends { readonly removing?: string }>(record: T | undefined): T | undefined =>
  record?.removing === undefined ? record : undefined

/** Whether a change is still allowed: whether the session that asks for it is still valid, for example. */
export type RemovalCheck = () => Promise<boolean>

/**
 * Marks a record, and asks afterwards whether its removal is still allowed. The mark takes effect before this check, so
 * an act that follows the check already finds no record. Removes the mark if the removal is not allowed. The record is
 * not deleted and written back, because that could restore a record that a reset has removed meanwhile.
 *
 * @param isSame returns whether the record is the one to remove
 * @param endsAt the end of the record if it stays (epoch seconds)
 * @returns whether the caller must delete the record
 */
export async function markRemoval<S extends v.GenericSchema<unknown, Removable>>(
  { records, randomId, now }: Pick<EndpointKit, 'records' | 'randomId' | 'now'>,
  record: {
    readonly key: string
    readonly schema: S
    readonly isSame: (present: v.InferOutput<S>) => boolean
    readonly endsAt: number
  },
  isStillAllowed: RemovalCheck,
): Promise<boolean> {
  const { key, schema, isSame, endsAt } = record
  const removing = randomId()
  let isMarked = false
  await records.update(key, schema, (present) => {
    isMarked = present !== undefined && isSame(present)
    if (present === undefined || !isMarked) return undefined
    return { value: { ...present, removing }, expiresAt: now() + markLifetime, ...keptRecord }
  })
  if (!isMarked) return false
  let isAllowed = false
  try {
    isAllowed = (await isStillAllowed()) === true
  } finally {
    if (!isAllowed) {
      // Leaves the mark of another removal.
      await records.update(key, schema, (present) => {
        if (present?.removing !== removing) return undefined
        const { removing: _, ...value } = present
        return { value, expiresAt: endsAt, ...keptRecord }
      })
    }
  }
  return isAllowed
}
