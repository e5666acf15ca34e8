import { after, allOf } from '../promises.ts'
import type { MaybePromise } from '../types.ts'

/** A record to write. */
export interface NewRecord {
  readonly key: string
  readonly value: unknown
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** A record that a commit creates. The random `attempt` distinguishes it from the record of another commit. */
export interface NewMarker extends NewRecord {
  readonly value: { readonly attempt: string }
}

/** Records that are written together. */
export interface RecordChanges {
  /** Records that must not exist yet. */
  readonly create: readonly NewMarker[]
  readonly put: readonly NewRecord[]
  /** Keys. */
  readonly remove: readonly string[]
}

/** Performs all changes, or none if a record in `create` exists. Returns the keys of those that exist. */
export type CommitRecords = (
  changes: { readonly [Kind in keyof RecordChanges]?: RecordChanges[Kind] | undefined },
) => MaybePromise<readonly string[]>

/** The operations of the store from which a commit is composed. */
interface Operations {
  put(record: NewRecord): MaybePromise<void>
  insert(record: NewRecord): MaybePromise<boolean>
  remove(key: string): MaybePromise<void>
  has(key: string): MaybePromise<boolean>
  /** Whether the stored marker is this one: after a lost response, a client library may have repeated the commit. */
  isOwnMarker(marker: NewMarker): MaybePromise<boolean>
  /** Performs the changes with `commit()` of the driver. `undefined` if it has none. */
  readonly commitAtomically: ((changes: RecordChanges) => MaybePromise<readonly string[]>) | undefined
}

export function createCommitRecords({
  put,
  insert,
  remove,
  has,
  isOwnMarker,
  commitAtomically,
}: Operations): CommitRecords {
  /** Single use is as strict as with an atomic operation. A crash can leave records that no credential leads to. */
  async function commitInOrder(changes: RecordChanges): Promise<readonly string[]> {
    // Before the markers: a credential must not be spent unless its tokens are stored.
    await allOf(changes.put.map(put))
    for (const [index, marker] of changes.create.entries()) {
      if ((await insert(marker)) || (await isOwnMarker(marker))) continue
      const later = changes.create.slice(index + 1).map(({ key }) => key)
      const written = [...changes.create.slice(0, index), ...changes.put]
      const [exist] = await allOf([allOf(later.map(has)), allOf(written.map(({ key }) => remove(key)))])
      return [marker.key, ...later.filter((_, at) => exist[at])]
    }
    await allOf(changes.remove.map(remove))
    return []
  }

  return ({ create = [], put: records = [], remove: removed = [] }) => {
    const changes = { create, put: records, remove: removed }
    const isOne = create.length + records.length + removed.length <= 1
    if (isOne && create.length === 0) return after(allOf([...records.map(put), ...removed.map(remove)]), () => [])
    // One write is atomic by itself, and costs less than a transaction.
    if (isOne || commitAtomically === undefined) return commitInOrder(changes)
    return after(commitAtomically(changes), (existing) =>
      existing.length === 0
        ? existing
        : after(allOf(create.map(isOwnMarker)), (own) => (own.every(Boolean) ? [] : existing)),
    )
  }
}
