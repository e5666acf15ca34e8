import { readFileSync, renameSync, unlinkSync } from 'node:fs'
import { createDraft, type Item } from './draft.ts'
import { ignoringErrors, notFoundCodes } from './ignore-errors.ts'
import { contentOf, hasExpired, newValueId, replacementOf, valueNameOf } from './item-name.ts'
import { contentionError, maxAttempts, removeOverwritten, withLiveFile } from './slot.ts'
import type { Slot, StoreDirectory } from './store-directory.ts'

/**
 * Stores the new value beside the item first. Then one call renames the file of the item, whose name is unique: the file
 * system lets one of several calls succeed.
 *
 * @returns `false` when the item, or the directory, is no longer there
 */
async function attempt(store: StoreDirectory, slot: Slot, name: string, to: Item): Promise<boolean> {
  const id = newValueId()
  const value = `${slot.path}/${valueNameOf(id)}`
  const draft = await createDraft(store, to)
  try {
    if (!draft.moveFile(value)) return false
  } finally {
    draft.discard()
  }
  await store.flush.directory(slot.path)
  const renamed =
    !hasExpired(name) &&
    ignoringErrors(notFoundCodes, () =>
      renameSync(`${slot.path}/${name}`, `${slot.path}/${replacementOf(name, id, to.expiresAt)}`),
    )
  if (!renamed) ignoringErrors(notFoundCodes, () => unlinkSync(value))
  return renamed
}

/**
 * Replaces an item that has this value.
 *
 * @returns whether this call replaced it
 */
export async function replaceItem(store: StoreDirectory, slot: Slot, from: string, to: Item): Promise<boolean> {
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const present = withLiveFile(slot.path, (file, name) => ({ name, value: readFileSync(file, 'utf8') }))
    if (present?.value !== from) return false
    // Reads again after a failure: a directory that was absent for a moment does not mean that the value has changed.
    if (!(await attempt(store, slot, present.name, to))) continue
    await Promise.all([store.flush.directory(slot.path), store.flush.directory(slot.shard)])
    // Removes the former value only after the new one is durable. removeOverwritten() does not find the renamed item.
    const former = contentOf(present.name)
    if (former !== present.name) ignoringErrors(notFoundCodes, () => unlinkSync(`${slot.path}/${former}`))
    removeOverwritten(slot.path)
    return true
  }
  throw contentionError(slot.path)
}
