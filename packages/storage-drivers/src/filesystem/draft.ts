import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { itemNameOf } from './item-name.ts'
import type { Place } from './place.ts'
import { gone, occupied, tolerating } from './tolerating.ts'

export interface Item {
  readonly value: string
  /** Milliseconds since the epoch; `Infinity` for an item that does not end. */
  readonly expiresAt: number
}

/** A whole slot with a whole item, where nobody looks yet. */
export interface Draft {
  /** Makes it the slot, in one step. `false` when there is one with something in it. */
  moveTo(slot: string): boolean
  /** Makes its item one of the slot's, in one step. `false` when the slot is gone. */
  moveInto(slot: string, generation: number): boolean
  /** Removes what was not moved. */
  discard(): void
}

export async function createDraft({ tmp, flush }: Place, { value, expiresAt }: Item): Promise<Draft> {
  const folder = `${tmp}/${randomUUID()}`
  const file = `${folder}/${itemNameOf(0, expiresAt)}`
  const discard = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(file, value, { flag: 'wx', mode: 0o600 })
    await Promise.all([flush.file(file), flush.directory(folder)])
  } catch (error) {
    discard()
    throw error
  }
  let moved = false
  return {
    moveTo(slot) {
      moved = tolerating(occupied, () => renameSync(folder, slot))
      return moved
    },
    moveInto(slot, generation) {
      moved = tolerating(gone, () => renameSync(file, `${slot}/${itemNameOf(generation, expiresAt)}`))
      // What is left is empty. Who waits for the item need not hear that it was swept meanwhile.
      if (moved) tolerating(gone, () => rmdirSync(folder))
      return moved
    },
    discard() {
      if (!moved) discard()
    },
  }
}
