/** A map of texts that forgets what was written first when it is full: a flood of strangers must not fill the memory. */
export interface BoundedMap<V> {
  readonly size: number
  get(key: string): V | undefined
  set(key: string, value: V): void
}

export function createBoundedMap<V>(most: number): BoundedMap<V> {
  const entries = new Map<string, V>()
  return {
    get size() {
      return entries.size
    },
    get: (key) => entries.get(key),
    set(key, value) {
      // Written again is written last.
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= most) return
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    },
  }
}
