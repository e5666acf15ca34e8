import { renameSync } from 'node:fs'
import { createDraft, type Draft } from './draft.ts'
import { endOf, generationOf, itemNameOf } from './item-name.ts'
import type { Place, Slot } from './place.ts'
import { attempts, contended, listSlot, liveOf, removeEmpty, unlinkAll } from './slot.ts'
import { gone, tolerating } from './tolerating.ts'

/**
 * Adds one to a counter. Its file holds nothing: the generation in the name is the count. To count is to rename the file to the next generation; a name
 * that no other file ever has can be renamed once, so of all that have seen it one counts and the others look again.
 *
 * @param expiresAt milliseconds since the epoch, for a counter that is not there yet.
 * @returns the new value, which no other caller gets.
 */
export async function incrementItem(place: Place, slot: Slot, expiresAt: number): Promise<number> {
  let draft: Draft | undefined
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const names = listSlot(slot.path)
      const live = liveOf(names)
      if (live !== undefined) {
        const next = generationOf(live) + 1
        const renamed = tolerating(gone, () =>
          renameSync(`${slot.path}/${live}`, `${slot.path}/${itemNameOf(next, endOf(live))}`),
        )
        if (renamed) return next + 1
        continue
      }
      draft ??= await createDraft(place, { value: '', expiresAt })
      unlinkAll(slot.path, names)
      if (draft.moveTo(slot.path)) return 1
      // Windows moves nothing to where an empty directory is.
      removeEmpty(slot.path)
    }
  } finally {
    draft?.discard()
  }
  throw contended(slot.path)
}
