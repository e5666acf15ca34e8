/**
 * A map with string keys that evicts its oldest entry when it is full, so a flood of requests cannot exhaust memory.
 */
export interface BoundedMap<V> {
  readonly size: number
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
}

export function createBoundedMap<V>(capacity: number): BoundedMap<V> {
  const entries = new Map<string, V>()
  return {
    get size() {
      return entries.size
    },
    get: (key) => entries.get(key),
    set(key, value) {
      // A rewritten key becomes the newest entry.
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= capacity) return
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    },
    delete(key) {
      entries.delete(key)
    },
  }
}
