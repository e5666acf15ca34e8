import { readFileSync } from 'node:fs'
import { createDraft } from './draft.ts'
import { expiryOf, successorOf } from './item-name.ts'
import { listSlot, removeOverwritten, withLiveFile } from './slot.ts'
import type { Slot, StoreDirectory } from './store-directory.ts'

/**
 * Replaces an item that has this value. The name of the new file follows from that of the old one, and the file system
 * lets one link with a name succeed.
 *
 * @returns whether this call replaced it. `false` also if another call has replaced the new value already.
 */
export async function replaceItem(store: StoreDirectory, slot: Slot, from: string, to: string): Promise<boolean> {
  const found = withLiveFile(slot.path, (file) => ({
    name: file.slice(slot.path.length + 1),
    value: readFileSync(file, 'utf8'),
  }))
  if (found?.value !== from) return false
  const successor = successorOf(found.name)
  const draft = await createDraft(store, { value: to, expiresAt: expiryOf(found.name) })
  try {
    if (!draft.linkTo(`${slot.path}/${successor}`)) return false
  } finally {
    draft.discard()
  }
  await Promise.all([store.flush.directory(slot.path), store.flush.directory(slot.shard)])
  // A slow call can create the successor of a file that was replaced before: it is not the newest, so nothing reads it.
  const isNewest = listSlot(slot.path).at(-1) === successor
  removeOverwritten(slot.path)
  return isNewest
}
