import { allOf } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import type { DriverChanges, DriverItem } from './driver.ts'

/** The operations of the store from which a commit is composed. */
interface Operations {
  setItem(item: DriverItem): MaybePromise<void>
  insertItem(item: DriverItem): MaybePromise<boolean>
  removeItem(key: string): MaybePromise<void>
  /** Whether the storage has this item: a client library may have repeated the write after a lost response. */
  isStored(item: DriverItem): MaybePromise<boolean>
}

/**
 * Performs the changes of a commit one by one, for a driver without `commit()`. Returns the key in `create` that
 * exists. Single use is as strict as with an atomic commit, but a crash can leave records that no credential leads to.
 */
export async function commitInOrder(
  { create, put, remove }: DriverChanges,
  { setItem, insertItem, removeItem, isStored }: Operations,
): Promise<readonly string[]> {
  // Before the markers: a credential must not be spent unless its tokens are stored.
  if (put.length > 0) await allOf(put.map(setItem))
  for (const [index, item] of create.entries()) {
    if ((await insertItem(item)) || (await isStored(item))) continue
    await allOf([...put, ...create.slice(0, index)].map(({ key }) => removeItem(key)))
    return [item.key]
  }
  if (remove.length > 0) await allOf(remove.map(removeItem))
  return []
}
