/** The end of an item that never expires, in milliseconds since the epoch. */
export const never = Number.MAX_SAFE_INTEGER

/** Returns when an item ends, in milliseconds since the epoch. */
export function endOf(ttl: number | undefined, now: number): number {
  return ttl === undefined ? never : Math.min(never, Math.ceil(now + ttl * 1000))
}

/** Returns what `endOf()` has returned, for a copy to another storage. */
export const endsAtOf = (stored: unknown): number => (stored === never ? Number.POSITIVE_INFINITY : Number(stored))

/** @throws TypeError, RangeError when an item with this lifetime would never exist. */
export function assertLasting(ttl: number, what: string): void {
  if (!(ttl > 0)) throw new RangeError(`The ttl of ${what} is ${ttl} s; give more than 0`)
}
