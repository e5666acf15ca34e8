/** Remembers values for a time. */
export interface BoundedCache<T> {
  get(key: string): T | undefined
  /** @param until epoch seconds */
  set(key: string, value: T, until: number): void
}

/** The oldest entry is removed when the cache is full. */
const maxEntries = 10_000

/** @param now epoch seconds */
export function createBoundedCache<T>(now: () => number): BoundedCache<T> {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined || entry.until > now()) return entry?.value
      entries.delete(key)
      return undefined
    },
    set(key, value, until) {
      entries.delete(key)
      entries.set(key, { value, until })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    },
  }
}
