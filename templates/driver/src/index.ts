import type { AtomicDriver } from '@grantry/core'

interface Item {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly end: number
}

/** What the driver stores items in. Replace it by the client of your store, and each use below by one atomic statement. */
export type Shelf = Map<string, Item>

/** A storage driver for a shelf. `ttl` is in seconds. */
export function shelfDriver(shelf: Shelf): AtomicDriver {
  function live(key: string): Item | undefined {
    const item = shelf.get(key)
    return item !== undefined && item.end > Date.now() ? item : undefined
  }
  const write = (key: string, value: string, ttl: number): void => {
    shelf.set(key, { value, end: Date.now() + ttl * 1000 })
  }
  return {
    name: 'shelf',
    getItem: (key) => live(key)?.value,
    setItem: (key, value, { ttl }) => write(key, value, ttl),
    removeItem(key) {
      shelf.delete(key)
    },
    insertItem(key, value, { ttl }) {
      // Without an await between the read and the write, both are one step within a process.
      if (live(key) !== undefined) return false
      write(key, value, ttl)
      return true
    },
    // The counter expires as a whole: when it was created decides.
    incrementItem(key, { ttl }) {
      const item = live(key)
      const count = Number(item?.value ?? 0) + 1
      if (item === undefined) write(key, '1', ttl)
      else shelf.set(key, { value: String(count), end: item.end })
      return count
    },
    replaceItem(key, { from, to, ttl }) {
      if (live(key)?.value !== from) return false
      write(key, to, ttl)
      return true
    },
  }
}
