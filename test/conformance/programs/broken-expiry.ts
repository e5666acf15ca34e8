// Drivers whose items do not expire, expire early, or are replaced by several inserts after they expire.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { type Broken, over } from './broken.ts'

/** Returns a function whose calls with one key resolve from the second one on. */
function createMeeting(): (key: string) => Promise<void> {
  const waiting = new Map<string, { readonly met: Promise<void>; readonly meet: () => void }>()
  return (key) => {
    const known = waiting.get(key)
    if (known !== undefined) {
      known.meet()
      return known.met
    }
    let meet = (): void => {}
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    waiting.set(key, { met, meet })
    return met
  }
}

interface Item {
  readonly value: string
  readonly end: number
}

/** Replaces an expired item after another insert has seen that it has expired. */
function replacingExpired(): AtomicDriver {
  const meet = createMeeting()
  const items = new Map<string, Item>()
  const counters = memoryDriver()
  const write = (key: string, value: string, ttl: number) => items.set(key, { value, end: Date.now() + ttl * 1000 })
  const live = (key: string): Item | undefined => {
    const item = items.get(key)
    return item !== undefined && item.end > Date.now() ? item : undefined
  }
  return {
    getItem: (key) => live(key)?.value ?? null,
    setItem: (key, value, { ttl }) => void write(key, value, ttl),
    removeItem: (key) => void items.delete(key),
    async insertItem(key, value, { ttl }) {
      if (live(key) !== undefined) return false
      if (items.has(key)) {
        await meet(key)
        items.delete(key)
      }
      if (items.has(key)) return false
      write(key, value, ttl)
      return true
    },
    incrementItem: (key, options) => counters.incrementItem(key, options),
    replaceItem(key, { from, to, ttl }) {
      if (items.get(key)?.value !== from) return false
      write(key, to, ttl)
      return true
    },
  }
}

/** Expires items with timers, as a later unstorage did: a ttl of more than 24.8 days expires immediately. */
function onTimers(): AtomicDriver {
  const good = memoryDriver()
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const endAt = (key: string, ttl: number): void => {
    clearTimeout(timers.get(key))
    timers.set(
      key,
      setTimeout(() => good.removeItem(key), (ttl * 1000) | 0),
    )
  }
  const forEver = { ttl: 1e9 }
  return {
    ...good,
    setItem(key, value, { ttl }) {
      good.setItem(key, value, forEver)
      endAt(key, ttl)
    },
    insertItem(key, value, { ttl }) {
      const created = good.insertItem(key, value, forEver)
      if (created) endAt(key, ttl)
      return created
    },
    dispose() {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

export const brokenExpiry: readonly Broken[] = [
  {
    fault: 'it ignores the ttl',
    proof: 'expires an item after its ttl, neither earlier nor much later',
    sentence: /set with a ttl of 1 s should be gone after 1 s, but still existed after \d+\.\d s/u,
    subject: over((good) => ({
      setItem: (key, value) => good.setItem(key, value, { ttl: 1e9 }),
      insertItem: (key, value) => good.insertItem(key, value, { ttl: 1e9 }),
    })),
  },
  {
    fault: 'it expires items early',
    proof: 'expires an item after its ttl, neither earlier nor much later',
    sentence: /inserted with a ttl of \d+ s should live for \d+ s, but was gone after/u,
    subject: over((good) => ({
      insertItem: (key, value, { ttl }) => good.insertItem(key, value, { ttl: ttl / 2 }),
    })),
  },
  {
    fault: 'a fractional ttl fails, as in Redis',
    proof: 'accepts a ttl with a fraction of a second',
    sentence: /ERR value is not an integer/u,
    subject: over((good) => ({
      setItem(key, value, { ttl }) {
        if (!Number.isInteger(ttl)) throw new Error('ERR value is not an integer')
        return good.setItem(key, value, { ttl })
      },
    })),
  },
  {
    fault: 'a ttl of 0 means no expiry, as in Redis',
    proof: 'never returns an item whose ttl is 0 or less',
    sentence: /an item that was set with a ttl of 0 s must not be readable/u,
    subject: over((good) => ({
      setItem: (key, value, { ttl }) => good.setItem(key, value, { ttl: ttl === 0 ? 1e9 : ttl }),
    })),
  },
  {
    fault: 'it expires items with timers',
    proof: 'keeps an item for 40 days',
    sentence: /an item that was set with a ttl of (24\.9|25|40|400) days was gone after a second/u,
    subject: () => ({ open: onTimers }),
  },
  {
    fault: 'the first expiry stays',
    proof: 'replaces the expiry with a later set',
    sentence: /set again with a ttl of an hour expired after its earlier ttl of 1 s/u,
    subject: over((good) => {
      const ends = new Map<string, number>()
      return {
        setItem(key, value, { ttl }) {
          const end = ends.get(key) ?? Date.now() + ttl * 1000
          ends.set(key, end)
          return good.setItem(key, value, { ttl: (end - Date.now()) / 1000 })
        },
        insertItem(key, value, { ttl }) {
          ends.set(key, Date.now() + ttl * 1000)
          return good.insertItem(key, value, { ttl })
        },
      }
    }),
  },
  {
    fault: 'a refused insert extends the existing item',
    proof: 'does not change the expiry with a refused insert',
    sentence: /after a refused insert with a ttl of 1 s should be gone after 1 s/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        const created = await good.insertItem(key, value, options)
        const existing = created ? null : await good.getItem(key)
        if (existing !== null) await good.setItem(key, String(existing), options)
        return created
      },
    })),
  },
  {
    fault: 'an expired item is replaced in two steps',
    proof: 'lets exactly one insert replace an expired item',
    sentence: /insertItem\(\) over one expired item, exactly 1 should return true, but (?:[2-9]|[1-9]\d+) did/u,
    subject: () => ({ open: replacingExpired }),
  },
  {
    fault: 'an expired item blocks inserts',
    proof: 'lets exactly one insert replace an expired item',
    sentence: /exactly 1 should return true, but 0 did/u,
    subject: over((good) => {
      const seen = new Set<string>()
      return {
        setItem(key, value, options) {
          seen.add(key)
          return good.setItem(key, value, options)
        },
        removeItem(key, options) {
          seen.delete(key)
          return good.removeItem(key, options)
        },
        insertItem: (key, value, options) => !seen.has(key) && good.insertItem(key, value, options),
      }
    }),
  },
]
