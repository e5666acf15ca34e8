import { packKey } from '../sql/item-key.ts'

// Parameters are text, as pg sends them.

/** Returns bytes as PostgreSQL writes them: `\\x` and hex digits. */
export const hexOf = (bytes: Uint8Array): string =>
  `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`

/** Returns the key of an item as PostgreSQL writes it. */
export const keyOf = (key: string): string => hexOf(packKey(key))

/** An array of keys. Hex digits need no quotes. */
export const keyArray = (keys: readonly string[]): string => `{${keys.map((key) => `\\${key}`).join(',')}}`

export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/** The form of PostgreSQL for a `text[]`. */
export const textArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/[\\"]/gu, '\\$&')}"`).join(',')}}`

/** Seconds after which an item counts as one that never expires: more than 300 years. */
const longest = 1e10

/** Returns the lifetime in seconds. @throws TypeError when it is not a number */
export function lifetimeOf(ttl: number | undefined): number {
  if (ttl === undefined) return Number.POSITIVE_INFINITY
  if (typeof ttl !== 'number' || Number.isNaN(ttl))
    throw new TypeError('The ttl of a stored item is not a number; give seconds')
  return ttl > longest ? Number.POSITIVE_INFINITY : ttl
}

/** Returns the lifetime of an item that must exist afterwards. @throws RangeError when it has expired */
export function futureOf(ttl: number, what: string): number {
  const lifetime = lifetimeOf(ttl)
  if (!(lifetime > 0)) throw new RangeError(`The ttl of ${what} is ${ttl} s; give more than 0`)
  return lifetime
}

/** Returns the lifetime of a counter. @throws RangeError when it has expired or never does */
export function counterLifetimeOf(ttl: number): number {
  if (ttl > 0 && ttl <= longest) return ttl
  throw new RangeError(`The ttl of a counter is ${ttl} s; it must be more than 0 and end`)
}

/** @throws TypeError when PostgreSQL cannot store the value: UTF-8 without U+0000. JSON escapes both. */
export function storable(value: string): string {
  if (typeof value === 'string' && !/[\0\uD800-\uDFFF]/u.test(value)) return value
  throw new TypeError('The value of a stored item is not text, or contains U+0000 or a lone surrogate')
}
