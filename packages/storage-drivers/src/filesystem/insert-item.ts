import { createDraft, type Draft, type Item } from './draft.ts'
import type { Flush } from './flush.ts'
import { contentOf } from './item-name.ts'
import { contentionError, listSlot, liveFileOf, maxAttempts, removeEmptySlot, unlinkAll } from './slot.ts'
import type { Slot, StoreDirectory } from './store-directory.ts'

/**
 * Flushes an item that another process inserted: the caller relies on it, and its writer may not have flushed it yet.
 *
 * @returns `false` when the item no longer exists.
 */
async function flushExisting(slot: Slot, file: string, flush: Flush): Promise<boolean> {
  const flushed = await Promise.all([
    flush.file(`${slot.path}/${contentOf(file)}`),
    flush.directory(slot.path),
    flush.directory(slot.shard),
  ])
  return flushed.every(Boolean)
}

/**
 * Creates an item only when there is none. The atomic rename of a complete slot decides: the file system lets one
 * succeed. An expired item is removed first, by its unique name.
 */
export async function insertItem(store: StoreDirectory, slot: Slot, item: Item): Promise<boolean> {
  const { flush } = store
  let draft: Draft | undefined
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const names = listSlot(slot.path)
      const live = liveFileOf(names)
      if (live !== undefined) {
        if (await flushExisting(slot, live, flush)) return false
        continue
      }
      if (item.expiresAt <= Date.now()) return true
      draft ??= await createDraft(store, item)
      unlinkAll(slot.path, names)
      if (draft.moveTo(slot.path)) {
        await flush.directory(slot.shard)
        return true
      }
      // Windows does not rename a directory over an empty one.
      removeEmptySlot(slot.path)
    }
  } finally {
    draft?.discard()
  }
  throw contentionError(slot.path)
}
