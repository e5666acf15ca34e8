import type { AtomicDriver } from '../records/store.ts'

/**
 * The smallest driver that keeps the contract: a map, for tests of plugins.
 *
 * @param items what is stored, for a test to look at
 * @param now the clock of the test, in epoch seconds, by which items end; without it they stay
 */
export function mapDriver(items: Map<string, string> = new Map(), now?: () => number): AtomicDriver {
  const ends = new Map<string, number>()
  const isLive = (key: string): boolean =>
    items.has(key) && (now === undefined || (ends.get(key) ?? Number.POSITIVE_INFINITY) > now())
  const write = (key: string, value: string, ttl: number): void => {
    items.set(key, value)
    if (now !== undefined) ends.set(key, now() + ttl)
  }
  return {
    name: 'map',
    getItem: (key) => (isLive(key) ? (items.get(key) ?? null) : null),
    setItem: (key, value, { ttl }) => write(key, value, ttl),
    removeItem(key) {
      items.delete(key)
    },
    insertItem(key, value, { ttl }) {
      if (isLive(key)) return false
      write(key, value, ttl)
      return true
    },
    incrementItem(key, { ttl }) {
      const count = isLive(key) ? Number(items.get(key)) + 1 : 1
      if (count === 1) write(key, '1', ttl)
      else items.set(key, String(count))
      return count
    },
  }
}
