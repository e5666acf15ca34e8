import { readdirSync, readFileSync, rmdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { ignoringErrors, notFoundCodes, occupiedCodes } from './ignore-errors.ts'
import { contentOf, hasExpired, isItemName, isValueName } from './item-name.ts'

/**
 * Maximum attempts of an operation when others change the item meanwhile. Each retry means that another operation
 * succeeded.
 */
export const maxAttempts = 100

export const contentionError = (path: string): Error =>
  new Error(
    `${path} was changed or blocked in ${maxAttempts} attempts; if no process writes to it, remove files from it that are not Grantry's`,
  )

/** Returns the names of the files in a slot; empty when the slot is absent. */
function namesIn(path: string): readonly string[] {
  let names: readonly string[] = []
  const list = (): void => {
    names = readdirSync(path)
  }
  // Most lookups find nothing: an exception costs 9 us, this check 2 us. Not `existsSync`, which returns false for
  // paths that are inaccessible or unreachable.
  const isPresent = (): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
  if (isPresent() && ignoringErrors(notFoundCodes, list)) return names
  // An unmounted disk must not look like a store in which nothing was revoked.
  statSync(dirname(path))
  // The disk may have returned after the first check.
  if (isPresent()) ignoringErrors(notFoundCodes, list)
  return names
}

/** How often a slot that has values, but no item, is listed. */
const maxLists = 10

/** Returns the item files of a slot, the newest last; empty when the slot is absent. */
export function listSlot(path: string): readonly string[] {
  for (let lists = 1; ; lists += 1) {
    const names = namesIn(path)
    const items = names.filter(isItemName)
    // Hundreds of names are read in parts, which can miss an item that is renamed meanwhile.
    if (items.length > 0 || lists === maxLists || !names.some(isValueName)) return inOrder(items)
  }
}

function inOrder(names: readonly string[]): readonly string[] {
  // Node.js returns them in this order but does not guarantee it.
  return names.length < 2 ? names : [...names].sort()
}

/** Returns the newest file unless it has expired. Older files are overwritten values and never count. */
export function liveFileOf(names: readonly string[]): string | undefined {
  const newest = names.at(-1)
  return newest === undefined || hasExpired(newest) ? undefined : newest
}

/**
 * Runs an operation on the file with the value of a slot and retries if it is replaced meanwhile. Returns `undefined`
 * when there is none.
 *
 * @param operate also gets the name of the live item
 */
export function withLiveFile<T>(path: string, operate: (file: string, name: string) => T): T | undefined {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const live = liveFileOf(listSlot(path))
    if (live === undefined) return undefined
    let result: { readonly value: T } | undefined
    ignoringErrors(notFoundCodes, () => {
      result = { value: operate(`${path}/${contentOf(live)}`, live) }
    })
    if (result !== undefined) return result.value
  }
  throw contentionError(path)
}

export const readSlot = (path: string): string | undefined => withLiveFile(path, (file) => readFileSync(file, 'utf8'))

/**
 * Removes these files and no newer ones. Oldest first: if the newest went first, an overwritten value would reappear.
 *
 * @returns whether this call removed the newest of them.
 */
export function unlinkAll(path: string, names: readonly string[]): boolean {
  let removed = false
  for (const name of names) {
    removed = ignoringErrors(notFoundCodes, () => unlinkSync(`${path}/${name}`))
    const content = contentOf(name)
    // Removed after the item, which must not lose its value first.
    if (content !== name) ignoringErrors(notFoundCodes, () => unlinkSync(`${path}/${content}`))
  }
  return removed
}

/** Removes all overwritten files. Never the newest file, which another process may just have written. */
export function removeOverwritten(path: string): void {
  unlinkAll(path, listSlot(path).slice(0, -1))
}

/** Removes an empty slot. Safe at any time: the file system refuses to remove one that is not empty. */
export function removeEmptySlot(path: string): void {
  if (ignoringErrors([...notFoundCodes, ...occupiedCodes], () => rmdirSync(path))) return
  const values = namesIn(path).filter(isValueName)
  // Listed after the values: an item that a replacement could still rename would be among them. No name returns.
  if (values.length === 0 || listSlot(path).length > 0) return
  unlinkAll(path, values)
  ignoringErrors([...notFoundCodes, ...occupiedCodes], () => rmdirSync(path))
}

/** Removes the item of a slot, also if another operation renames it meanwhile. */
export function removeItem(path: string): void {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const names = listSlot(path)
    if (names.length === 0 || clearSlot(path, names)) return
  }
  throw contentionError(path)
}

/** @returns whether this call removed the newest of these files. */
export function clearSlot(path: string, names: readonly string[]): boolean {
  const removed = unlinkAll(path, names)
  removeEmptySlot(path)
  return removed
}
