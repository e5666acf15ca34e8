import { createDraft, type Item } from './draft.ts'
import { generationOf } from './item-name.ts'
import type { Place, Slot } from './place.ts'
import { attempts, contended, listSlot, liveOf, removeEmpty, removeOverwritten, unlinkAll } from './slot.ts'

/** Creates or overwrites an item. Concurrent readers see the complete old value or the complete new one. */
export async function setItem(place: Place, slot: Slot, item: Item): Promise<void> {
  const { flush } = place
  const draft = await createDraft(place, item)
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const names = listSlot(slot.path)
      const live = liveOf(names)
      if (live === undefined) {
        unlinkAll(slot.path, names)
        if (draft.moveTo(slot.path)) {
          await flush.directory(slot.fan)
          return
        }
        // Windows does not rename a directory over an empty one.
        removeEmpty(slot.path)
      } else if (draft.moveInto(slot.path, generationOf(live) + 1)) {
        // Flush the new name before the old one is removed.
        await Promise.all([flush.directory(slot.path), flush.directory(slot.fan)])
        removeOverwritten(slot.path)
        return
      }
    }
  } finally {
    draft.discard()
  }
  throw contended(slot.path)
}
