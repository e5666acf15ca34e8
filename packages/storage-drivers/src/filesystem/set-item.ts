import { createDraft, type Item } from './draft.ts'
import { generationOf } from './item-name.ts'
import type { Place, Slot } from './place.ts'
import { attempts, contended, listSlot, liveOf, removeEmpty, removeOverwritten, unlinkAll } from './slot.ts'

/** Creates or overwrites an item. Who reads meanwhile finds the old value or the new one, whole. */
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
        // Windows moves nothing to where an empty directory is.
        removeEmpty(slot.path)
      } else if (draft.moveInto(slot.path, generationOf(live) + 1)) {
        // The new name reaches the disk before the old one leaves it.
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
