import { renameSync } from 'node:fs'
import { createDraft, type Draft } from './draft.ts'
import { ignoringErrors, notFoundCodes } from './ignore-errors.ts'
import { expiryOf, generationOf, itemNameOf } from './item-name.ts'
import { contentionError, listSlot, liveFileOf, maxAttempts, removeEmptySlot, unlinkAll } from './slot.ts'
import type { Slot, StoreDirectory } from './store-directory.ts'

/**
 * Adds one to a counter. Its file is empty: the generation in its name is the count. An increment renames the file to
 * the next generation. Each name is unique, so only one of several concurrent renames succeeds; the others retry.
 *
 * @param expiresAt milliseconds since the epoch; used only when the counter is created.
 * @returns the new value; no other call returns the same one.
 */
export async function incrementItem(store: StoreDirectory, slot: Slot, expiresAt: number): Promise<number> {
  let draft: Draft | undefined
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const names = listSlot(slot.path)
      const live = liveFileOf(names)
      if (live !== undefined) {
        const next = generationOf(live) + 1
        const renamed = ignoringErrors(notFoundCodes, () =>
          renameSync(`${slot.path}/${live}`, `${slot.path}/${itemNameOf(next, expiryOf(live))}`),
        )
        if (renamed) return next + 1
        continue
      }
      draft ??= await createDraft(store, { value: '', expiresAt })
      unlinkAll(slot.path, names)
      if (draft.moveTo(slot.path)) return 1
      // Windows does not rename a directory over an empty one.
      removeEmptySlot(slot.path)
    }
  } finally {
    draft?.discard()
  }
  throw contentionError(slot.path)
}
