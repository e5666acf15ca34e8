import { randomUUID } from 'node:crypto'
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { ignoringErrors, notFoundCodes } from './ignore-errors.ts'
import { contentOf } from './item-name.ts'
import { clearSlot, filesIn, liveFileOf, unlinkAll } from './slot.ts'

/** Milliseconds after which a draft, or a value, counts as left behind by a killed process. */
const abandonedAfter = 3_600_000

function isAbandoned(path: string): boolean {
  const changed = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
  return changed !== undefined && changed <= Date.now() - abandonedAfter
}

/**
 * Removes an expired item, or overwritten files that a killed process left beside a live one. Reads names only, no file
 * contents.
 *
 * @returns whether this call removed an expired item.
 */
export function sweepSlot(path: string): boolean {
  const { items, values } = filesIn(path)
  const live = liveFileOf(items)
  if (live === undefined) return clearSlot(path, items)
  unlinkAll(path, items.slice(0, -1))
  const unused = values.filter((name) => name !== contentOf(live) && isAbandoned(`${path}/${name}`))
  unlinkAll(path, unused)
  return false
}

/** Removes an abandoned draft. */
export function sweepDraft(tmp: string, name: string): void {
  const path = `${tmp}/${name}`
  if (!isAbandoned(path)) return
  // Rename it first: a writer that was only suspended could otherwise move an emptied folder to its slot and insert
  // nothing.
  const claimed = `${tmp}/${randomUUID()}`
  if (ignoringErrors(notFoundCodes, () => renameSync(path, claimed))) rmSync(claimed, { recursive: true, force: true })
}
