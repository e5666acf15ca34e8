import type { AtomicDriver } from '../records/store.ts'

/** The smallest driver that keeps the contract: a map, for tests of plugins. It never forgets; the provider's clock decides what has expired. */
export function mapDriver(items: Map<string, string> = new Map()): AtomicDriver {
  return {
    name: 'map',
    getItem: (key) => items.get(key) ?? null,
    setItem(key, value) {
      items.set(key, value)
    },
    removeItem(key) {
      items.delete(key)
    },
    insertItem(key, value) {
      if (items.has(key)) return false
      items.set(key, value)
      return true
    },
  }
}
