import type { AtomicDriver } from '@grantry/core'

/**
 * Creates an in-memory storage driver for tests of plugins.
 *
 * @param items the map that contains the records, which a test can inspect
 * @param now the clock by which items expire, in epoch seconds; without it they do not expire
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
    commit({ create, put, remove }) {
      const existing = create.filter(({ key }) => isLive(key))
      if (existing.length > 0) return existing.map(({ key }) => key)
      for (const { key, value, ttl } of [...create, ...put]) write(key, value, ttl)
      for (const key of remove) items.delete(key)
      return true
    },
    replaceItem(key, { from, to, ttl }) {
      if (!isLive(key) || items.get(key) !== from) return false
      write(key, to, ttl)
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
