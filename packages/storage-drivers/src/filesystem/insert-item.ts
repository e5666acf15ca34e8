import { createDraft, type Draft, type Item } from './draft.ts'
import type { Flush } from './flush.ts'
import type { Place, Slot } from './place.ts'
import { attempts, contended, listSlot, liveOf, removeEmpty, unlinkAll } from './slot.ts'

/** Whoever did not insert acts on what is there, and its writer may be about to lose its power. `false`: it is gone meanwhile. */
async function secure(slot: Slot, file: string, flush: Flush): Promise<boolean> {
  const found = await Promise.all([
    flush.file(`${slot.path}/${file}`),
    flush.directory(slot.path),
    flush.directory(slot.fan),
  ])
  return found.every(Boolean)
}

/**
 * Creates an item only when there is none: the move of a whole slot decides, which the file system allows once. An expired item is
 * first removed by its name, which nobody else's item has.
 */
export async function insertItem(place: Place, slot: Slot, item: Item): Promise<boolean> {
  const { flush } = place
  let draft: Draft | undefined
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const names = listSlot(slot.path)
      const live = liveOf(names)
      if (live !== undefined) {
        if (await secure(slot, live, flush)) return false
        continue
      }
      if (item.expiresAt <= Date.now()) return true
      draft ??= await createDraft(place, item)
      unlinkAll(slot.path, names)
      if (draft.moveTo(slot.path)) {
        await flush.directory(slot.fan)
        return true
      }
      // Windows moves nothing to where an empty directory is.
      removeEmpty(slot.path)
    }
  } finally {
    draft?.discard()
  }
  throw contended(slot.path)
}
