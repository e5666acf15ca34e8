import { readdirSync, readFileSync, rmdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasExpired, isItemName } from './item-name.ts'
import { gone, occupied, tolerating } from './tolerating.ts'

/** So often an operation begins again when others change the item in between; each time, one of them got something done. */
export const attempts = 100

export const contended = (path: string): Error =>
  new Error(
    `${path} was in use or in the way ${attempts} times; when nobody writes to it, remove files from it that are not Grantry's`,
  )

/** The files of a slot, the newest last. None when the slot is absent. */
export function listSlot(path: string): readonly string[] {
  // Most look-ups find nothing: an exception costs 9 us, this look 2. Not `existsSync`, which says of whatever it may not see, or cannot
  // reach, that it does not exist.
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    // A disk that is gone must not look like a store in which nothing was revoked.
    statSync(dirname(path))
    return []
  }
  let names: readonly string[] = []
  tolerating(gone, () => {
    names = readdirSync(path).filter(isItemName)
  })
  // Node.js gives them in this order, and promises none.
  return names.length < 2 ? names : [...names].sort()
}

/** The newest file, unless it has expired. An older one never counts, also when the newest has: it was overwritten. */
export function liveOf(names: readonly string[]): string | undefined {
  const newest = names.at(-1)
  return newest === undefined || hasExpired(newest) ? undefined : newest
}

/** Runs an operation on the live file of a slot, again when that was replaced in between. `undefined` when there is none. */
export function withLive<T>(path: string, operate: (file: string) => T): T | undefined {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const live = liveOf(listSlot(path))
    if (live === undefined) return undefined
    let result: { readonly value: T } | undefined
    tolerating(gone, () => {
      result = { value: operate(`${path}/${live}`) }
    })
    if (result !== undefined) return result.value
  }
  throw contended(path)
}

export const readSlot = (path: string): string | undefined => withLive(path, (file) => readFileSync(file, 'utf8'))

/**
 * Removes these files, whatever has come to the slot since. Oldest first: with the newest gone and an older one left, an overwritten
 * value would come back.
 *
 * @returns whether this call removed the last of them.
 */
export function unlinkAll(path: string, names: readonly string[]): boolean {
  let removed = false
  for (const name of names) removed = tolerating(gone, () => unlinkSync(`${path}/${name}`))
  return removed
}

/** Removes what was overwritten, by whomever. Never the newest file, which may have come a moment ago. */
export function removeOverwritten(path: string): void {
  unlinkAll(path, listSlot(path).slice(0, -1))
}

/** Removes a slot that is empty. Safe at any time: the file system refuses when it is not. */
export function removeEmpty(path: string): void {
  tolerating([...gone, ...occupied], () => rmdirSync(path))
}

/** @returns whether this call removed the newest of these files. */
export function emptySlot(path: string, names: readonly string[]): boolean {
  const removed = unlinkAll(path, names)
  removeEmpty(path)
  return removed
}
