import { randomUUID } from 'node:crypto'

const digits = 9
const beyond = 36 ** digits
const encode = (number: number): string => number.toString(36).padStart(digits, '0')
const decode = (text: string): number => Number.parseInt(text, 36)

/** What else lies in a slot (a `.DS_Store`) is not ours, and is neither read nor removed. */
export const isItemName = (name: string): boolean => /^[0-9a-z]{9}-[0-9a-f-]{36}-[0-9a-z]{9}$/.test(name)

/**
 * A name that no other file ever has or had. What unlinks it hurts no other item, however late it comes. Names sort by generation.
 *
 * @param generation 0 for the first file of a slot, for a later one more than all that are there. Not a time: clocks are set back,
 * and two writes share a millisecond.
 * @param expiresAt milliseconds since the epoch; `Infinity` for an item that does not end.
 */
export function itemNameOf(generation: number, expiresAt: number): string {
  return `${encode(generation)}-${randomUUID()}-${encode(expiresAt < beyond ? expiresAt : 0)}`
}

export const generationOf = (name: string): number => decode(name.slice(0, digits))

/** Milliseconds since the epoch; `Infinity` for an item that does not end. */
export const endOf = (name: string): number => decode(name.slice(-digits)) || Number.POSITIVE_INFINITY

export const hasExpired = (name: string): boolean => endOf(name) <= Date.now()
