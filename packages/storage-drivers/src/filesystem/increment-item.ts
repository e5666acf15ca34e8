import { renameSync } from 'node:fs'
import { createDraft, type Draft } from './draft.ts'
import { endOf, generationOf, itemNameOf } from './item-name.ts'
import type { Place, Slot } from './place.ts'
import { attempts, contended, listSlot, liveOf, removeEmpty, unlinkAll } from './slot.ts'
import { gone, tolerating } from './tolerating.ts'

/**
 * Adds one to a counter. Its file is empty: the generation in its name is the count. An increment renames the file to
 * the next generation. Each name is unique, so only one of several concurrent renames succeeds; the others retry.
 *
 * @param expiresAt milliseconds since the epoch; used only when the counter is created.
 * @returns the new value; no other call returns the same one.
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
      // Windows does not rename a directory over an empty one.
      removeEmpty(slot.path)
    }
  } finally {
    draft?.discard()
  }
  throw contended(slot.path)
}
