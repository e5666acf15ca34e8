import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { ignoringErrors, notFoundCodes, occupiedCodes } from './ignore-errors.ts'
import { itemNameOf } from './item-name.ts'
import type { StoreDirectory } from './store-directory.ts'

export interface Item {
  readonly value: string
  /** Milliseconds since the epoch; `Infinity` for an item that never expires. */
  readonly expiresAt: number
}

/** A complete slot with a complete item, in a place that no operation reads. */
export interface Draft {
  /** Renames the draft to the slot, atomically. Returns `false` when a slot with items exists. */
  moveTo(slot: string): boolean
  /** Renames the item into the slot, atomically. Returns `false` when the slot does not exist. */
  moveInto(slot: string, generation: number): boolean
  /** Renames the file of the item to a path in a slot, atomically. Returns `false` when the slot does not exist. */
  moveFile(path: string): boolean
  /** Removes the draft unless it was moved. */
  discard(): void
}

export async function createDraft({ tmp, flush }: StoreDirectory, { value, expiresAt }: Item): Promise<Draft> {
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
  function moveFile(path: string): boolean {
    moved = ignoringErrors(notFoundCodes, () => renameSync(file, path))
    // The remaining folder is empty. If a sweep has already removed it, that is not an error.
    if (moved) ignoringErrors(notFoundCodes, () => rmdirSync(folder))
    return moved
  }
  return {
    moveTo(slot) {
      moved = ignoringErrors(occupiedCodes, () => renameSync(folder, slot))
      return moved
    },
    moveInto: (slot, generation) => moveFile(`${slot}/${itemNameOf(generation, expiresAt)}`),
    moveFile,
    discard() {
      if (!moved) discard()
    },
  }
}
