import { createDraft, type Item } from './draft.ts'
import { generationOf } from './item-name.ts'
import {
  contentionError,
  listSlot,
  liveFileOf,
  maxAttempts,
  removeEmptySlot,
  removeOverwritten,
  unlinkAll,
} from './slot.ts'
import type { Slot, StoreDirectory } from './store-directory.ts'

/** Creates or overwrites an item. Concurrent readers see the complete old value or the complete new one. */
export async function setItem(store: StoreDirectory, slot: Slot, item: Item): Promise<void> {
  const { flush } = store
  const draft = await createDraft(store, item)
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const names = listSlot(slot.path)
      const live = liveFileOf(names)
      if (live === undefined) {
        unlinkAll(slot.path, names)
        if (draft.moveTo(slot.path)) {
          await flush.directory(slot.shard)
          return
        }
        // Windows does not rename a directory over an empty one.
        removeEmptySlot(slot.path)
      } else if (draft.moveInto(slot.path, generationOf(live) + 1)) {
        // Flush the new name before the old one is removed.
        await Promise.all([flush.directory(slot.path), flush.directory(slot.shard)])
        removeOverwritten(slot.path)
        return
      }
    }
  } finally {
    draft.discard()
  }
  throw contentionError(slot.path)
}
