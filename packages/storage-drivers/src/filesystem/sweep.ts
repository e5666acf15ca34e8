import { randomUUID } from 'node:crypto'
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { ignoringErrors, notFoundCodes } from './ignore-errors.ts'
import { clearSlot, listSlot, liveFileOf, unlinkAll } from './slot.ts'

/** Milliseconds after which a draft counts as left behind by a killed process. */
const abandonedAfter = 3_600_000

/**
 * Removes an expired item, or overwritten files that a killed process left beside a live one. Reads names only, no file
 * contents.
 *
 * @returns whether this call removed an expired item.
 */
export function sweepSlot(path: string): boolean {
  const names = listSlot(path)
  if (liveFileOf(names) !== undefined) {
    // Leaves values that seem abandoned: a suspended replacement can still make one the value of the live item.
    unlinkAll(path, names.slice(0, -1))
    return false
  }
  return clearSlot(path, names)
}

/** Removes an abandoned draft. */
export function sweepDraft(tmp: string, name: string): void {
  const path = `${tmp}/${name}`
  const changed = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
  if (changed === undefined || changed > Date.now() - abandonedAfter) return
  // Rename it first: a writer that was only suspended could otherwise move an emptied folder to its slot and insert
  // nothing.
  const claimed = `${tmp}/${randomUUID()}`
  if (ignoringErrors(notFoundCodes, () => renameSync(path, claimed))) rmSync(claimed, { recursive: true, force: true })
}
