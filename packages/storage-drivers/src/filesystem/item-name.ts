import { randomUUID } from 'node:crypto'

const digits = 9
const expiryLimit = 36 ** digits
const encode = (number: number): string => number.toString(36).padStart(digits, '0')
const decode = (text: string): number => Number.parseInt(text, 36)

/** Other files in a slot, such as `.DS_Store`, are neither read nor removed. */
export const isItemName = (name: string): boolean => /^[0-9a-z]{9}-[0-9a-f-]{36}-[0-9a-z]{9}$/.test(name)

/**
 * Returns a unique file name that is never reused, so a late unlink cannot remove another item. Names sort by
 * generation.
 *
 * @param generation 0 for the first file of a slot, then higher than that of every existing file. Not a time: clocks
 * can be set back, and two writes can share a millisecond.
 * @param expiresAt milliseconds since the epoch; `Infinity` for an item that never expires.
 */
export function itemNameOf(generation: number, expiresAt: number): string {
  return `${encode(generation)}-${randomUUID()}-${encode(expiresAt < expiryLimit ? expiresAt : 0)}`
}

export const generationOf = (name: string): number => decode(name.slice(0, digits))

/** Milliseconds since the epoch; `Infinity` for an item that never expires. */
export const expiryOf = (name: string): number => decode(name.slice(-digits)) || Number.POSITIVE_INFINITY

export const hasExpired = (name: string): boolean => expiryOf(name) <= Date.now()

/**
 * Returns the name to which a replacement renames the file of an item. Its value is in a file of its own, which has the
 * id: a renamed file keeps what it contains.
 *
 * @param id of `newValueId()`
 */
export const replacementOf = (name: string, id: string, expiresAt: number): string =>
  `${encode(generationOf(name) + 1)}-${id}-${encode(expiresAt < expiryLimit ? expiresAt : 0)}`

/** Returns a unique id. Those of other files begin with no dash. */
export const newValueId = (): string => `-${randomUUID().slice(1)}`

/** Files with values begin with this, so that no operation takes them for items. */
const valuePrefix = 'value'

export const isValueName = (name: string): boolean => /^value-[0-9a-f-]{35}$/u.test(name)

export const valueNameOf = (id: string): string => `${valuePrefix}${id}`

/** Returns the name of the file that contains the value of an item: usually its own. */
export function contentOf(name: string): string {
  const id = name.slice(digits + 1, -digits - 1)
  return id.startsWith('-') ? valueNameOf(id) : name
}
