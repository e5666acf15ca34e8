// Drivers that break one promise each: what the conformance kit is for.
import type { AtomicDriver } from '@grantry/core'
import type { DriverSubject } from '@grantry/storage-drivers/conformance'
import { memoryDriver } from '@grantry/storage-drivers/memory'

/** As long as a file or a network takes, now more and now less. */
const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 8))

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Broken {
  /** What is wrong with it. */
  readonly fault: string
  /** The proof that must notice. */
  readonly proof: string
  /** The sentence that must be among those of the proof. */
  readonly sentence: RegExp
  subject(): DriverSubject
}

/** A good driver with parts of its own. */
const over = (parts: (good: AtomicDriver) => Partial<AtomicDriver>) => (): DriverSubject => ({
  open() {
    const good: AtomicDriver = memoryDriver()
    return { ...good, ...parts(good) }
  },
})

const renaming = (rename: (key: string) => string) =>
  over((good) => ({
    getItem: (key) => good.getItem(rename(key)),
    setItem: (key, value, options) => good.setItem(rename(key), value, options),
    removeItem: (key, options) => good.removeItem(rename(key), options),
    insertItem: (key, value, options) => good.insertItem(rename(key), value, options),
  }))

const hostileKeys = 'keeps every hostile key apart, or refuses it'
const hostileValues = 'gives back every value as it was written'
const torn = 'never shows a part of a value while it is replaced'

interface Item {
  readonly value: string
  readonly end: number
}

/** Insert over an expired item, with time between the look and the write. */
function replacingExpired(): AtomicDriver {
  const items = new Map<string, Item>()
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
        await moment()
        items.delete(key)
        await moment()
      }
      if (items.has(key)) return false
      write(key, value, ttl)
      return true
    },
  }
}

/** Ends items by timers, as a later unstorage did: more than 24.8 days end at once. */
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

/** Look and write as far apart as with a network in between. Only for markers: the provider's own probe at start would notice. */
const farApart = over((good) => ({
  async insertItem(key, value, options) {
    if ((await good.getItem(key)) !== null) return false
    if (key.startsWith('spent:')) await new Promise((resolve) => setTimeout(resolve, 10))
    await good.setItem(key, value, options)
    return true
  },
}))

export const brokenDrivers: readonly Broken[] = [
  {
    fault: 'insertItem() looks first and writes later',
    proof: 'lets one of many racers insert',
    sentence: /of 50 insertItem\(\) of one key at the same time exactly 1 should answer true, and \d+ did/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        if ((await good.getItem(key)) !== null) return false
        await turn()
        await good.setItem(key, value, options)
        return true
      },
    })),
  },
  {
    fault: 'insertItem() looks first and writes later, and a provider redeems codes on it',
    proof: 'redeems a code once, of 50 at the same time',
    sentence: /of 50 redemptions of one code exactly 1 should succeed, and \d+ did/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() looks first and writes later, and a provider rotates refresh tokens on it',
    proof: 'rotates a refresh token once, of 50 at the same time',
    sentence: /of 50 redemptions of one refresh token exactly 1 should succeed, and \d+ did/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() looks first and writes later, and a provider answers retries on it',
    proof: 'answers 50 equal refreshes inside the retry window with one successor',
    sentence: /50 equal refreshes should get one successor, and got \d+/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() always says true',
    proof: 'inserts only what is absent',
    sentence: /insertItem\(\) over an item that was set should answer false/u,
    subject: over(() => ({ insertItem: () => true })),
  },
  {
    fault: 'insertItem() never says true',
    proof: 'keeps the keys of the core apart',
    sentence: /should answer true/u,
    subject: over(() => ({ insertItem: () => false })),
  },
  {
    fault: 'insertItem() answers as its client library does',
    proof: 'inserts only what is absent',
    sentence: /must answer true or false and has answered "OK"/u,
    subject: over((good) => ({
      insertItem: (key, value, options) => (good.insertItem(key, value, options) ? 'OK' : null) as unknown as boolean,
    })),
  },
  {
    fault: 'an insert that is refused overwrites',
    proof: 'inserts only what is absent',
    sentence: /should stay as it was when an insert is refused/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        const created = await good.insertItem(key, value, options)
        if (!created) await good.setItem(key, value, options)
        return created
      },
    })),
  },
  {
    fault: 'one hash is one item, whatever the kind',
    proof: 'keeps the keys of the core apart',
    sentence: /only other kinds of the same hash are there/u,
    subject: renaming((key) => key.slice(key.lastIndexOf(':') + 1)),
  },
  {
    fault: 'an absent item is an empty string',
    proof: 'answers null or undefined for what is absent, and removes it without failing',
    sentence: /should be null and was ""/u,
    subject: over((good) => ({ getItem: async (key) => (await good.getItem(key)) ?? '' })),
  },
  {
    fault: 'removing what is absent fails',
    proof: 'answers null or undefined for what is absent, and removes it without failing',
    sentence: /removeItem\(.*\) failed: ENOENT/u,
    subject: over((good) => ({
      async removeItem(key, options) {
        if ((await good.getItem(key)) === null) throw new Error('ENOENT')
        await good.removeItem(key, options)
      },
    })),
  },
  {
    fault: 'forgets to remove',
    proof: 'keeps, replaces and removes an item',
    sentence: /after removeItem\(\) getItem\(\) should give nothing/u,
    subject: over(() => ({ removeItem() {} })),
  },
  {
    fault: 'what was written is seen later',
    proof: 'keeps, replaces and removes an item',
    sentence: /after setItem\(\).* getItem\(\) should give/u,
    subject: over((good) => ({
      setItem: (key, value, options) => void setTimeout(() => good.setItem(key, value, options), 30),
    })),
  },
  {
    fault: 'ignores the ttl',
    proof: 'ends an item with its ttl, neither earlier nor much later',
    sentence: /set with a ttl of 1 s should be gone after 1 s and was there after 2\.\d s/u,
    subject: over((good) => ({
      setItem: (key, value) => good.setItem(key, value, { ttl: 1e9 }),
      insertItem: (key, value) => good.insertItem(key, value, { ttl: 1e9 }),
    })),
  },
  {
    fault: 'ends items early',
    proof: 'ends an item with its ttl, neither earlier nor much later',
    sentence: /inserted with a ttl of 2 s should live for 2 s and was gone after/u,
    subject: over((good) => ({
      insertItem: (key, value, { ttl }) => good.insertItem(key, value, { ttl: ttl / 2 }),
    })),
  },
  {
    fault: 'a fraction fails, as in Redis',
    proof: 'takes a fraction of a second as ttl, and not as for ever',
    sentence: /ERR value is not an integer/u,
    subject: over((good) => ({
      setItem(key, value, { ttl }) {
        if (!Number.isInteger(ttl)) throw new Error('ERR value is not an integer')
        return good.setItem(key, value, { ttl })
      },
    })),
  },
  {
    fault: 'a ttl of 0 is for ever, as in Redis',
    proof: 'never shows an item whose ttl is 0 or less',
    sentence: /what is set with a ttl of 0 s must not be there/u,
    subject: over((good) => ({
      setItem: (key, value, { ttl }) => good.setItem(key, value, { ttl: ttl === 0 ? 1e9 : ttl }),
    })),
  },
  {
    fault: 'ends items by timers',
    proof: 'keeps an item for 40 days',
    sentence: /an item that was set with a ttl of (24\.9|25|40|400) days was gone after a second/u,
    subject: () => ({ open: onTimers }),
  },
  {
    fault: 'the first end stays',
    proof: 'lets a later set replace the end',
    sentence: /set again with a ttl of an hour has ended when the earlier ttl of 1 s was over/u,
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
    fault: 'an insert that is refused lengthens the life of what it finds',
    proof: 'lets no refused insert change the end',
    sentence: /that another insert found should be gone after 1 s/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        const created = await good.insertItem(key, value, options)
        const found = created ? null : await good.getItem(key)
        if (found !== null) await good.setItem(key, String(found), options)
        return created
      },
    })),
  },
  {
    fault: 'an expired item is replaced in two steps',
    proof: 'lets one insert over an item that has expired',
    sentence: /insert over an expired item exactly 1 should get the answer true, and (?:[2-9]|1\d) did/u,
    subject: () => ({ open: replacingExpired }),
  },
  {
    fault: 'an expired item keeps others out',
    proof: 'lets one insert over an item that has expired',
    sentence: /exactly 1 should get the answer true, and 0 did/u,
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
  {
    fault: 'writes a value in two pieces',
    proof: torn,
    sentence: /getItem\(\) should give the old or the new one and gave/u,
    subject: over((good) => ({
      async setItem(key, value, options) {
        await good.setItem(key, value.slice(0, value.length / 2), options)
        await turn()
        await good.setItem(key, value, options)
      },
    })),
  },
  {
    fault: 'removes a value before it writes the next',
    proof: torn,
    sentence: /getItem\(\) should give the old or the new one and gave nothing/u,
    subject: over((good) => ({
      async setItem(key, value, options) {
        await good.removeItem(key, {})
        await turn()
        await good.setItem(key, value, options)
      },
    })),
  },
  {
    fault: 'folds upper and lower case',
    proof: hostileKeys,
    sentence: /-UPPER-LOWER" should find nothing|should be refused or have its own value/u,
    subject: renaming((key) => key.toLowerCase()),
  },
  {
    fault: 'cuts keys at a question mark, as unstorage does',
    proof: hostileKeys,
    sentence: /\?ttl=1"\) should find nothing, and has found what/u,
    subject: renaming((key) => key.split('?')[0] ?? ''),
  },
  {
    fault: 'gives an Error as the value, as the file driver of unstorage does',
    proof: hostileKeys,
    sentence: /gave an Error as the value instead of rejecting: ENOTDIR/u,
    subject: over((good) => ({
      getItem: (key) => (key.includes('\0') ? new Error('ENOTDIR') : good.getItem(key)),
    })),
  },
  {
    fault: 'keeps one byte of a character',
    proof: hostileValues,
    sentence: /a record of .* should come back/u,
    subject: over((good) => ({
      setItem: (key, value, options) => good.setItem(key, Buffer.from(value, 'latin1').toString('latin1'), options),
    })),
  },
  {
    fault: 'keeps 64 KB of a value',
    proof: hostileValues,
    sentence: /a record of .* should come back/u,
    subject: over((good) => ({
      setItem: (key, value, options) => good.setItem(key, value.slice(0, 65_536), options),
    })),
  },
  {
    fault: 'takes what it cannot parse for absent',
    proof: 'lets values that are not ours forbid, and allow nothing',
    sentence: /"garbage" under a spent key should count as spent, and the answer was 200/u,
    subject: over((good) => {
      const read = async (key: string) => {
        try {
          return JSON.parse(String(await good.getItem(key)))
        } catch {
          return null
        }
      }
      return {
        getItem: read,
        async insertItem(key, value, options) {
          if ((await good.getItem(key)) !== null && (await read(key)) === null) good.removeItem(key, options)
          return good.insertItem(key, value, options)
        },
      }
    }),
  },
  {
    fault: 'never answers',
    proof: 'keeps, replaces and removes an item',
    sentence: /getItem\(.*\) did not end within 5 s/u,
    subject: over(() => ({ getItem: () => new Promise(() => {}) })),
  },
  {
    fault: 'a second open() begins anew',
    proof: 'opens twice and keeps what is there',
    sentence: /gone after a second open\(\)/u,
    subject: over((good) => ({ open: () => (good as ReturnType<typeof memoryDriver>).clear() })),
  },
  {
    fault: 'the first that is disposed of closes the storage of all',
    proof: 'ends when it is disposed of, and no other driver with it',
    sentence: /dispose\(\) of one driver has taken what another one keeps/u,
    subject() {
      const shared = memoryDriver()
      return { open: () => shared }
    },
  },
  {
    fault: 'two drivers of one process do not know of each other',
    proof: 'lets one of many racers insert through two drivers of one process',
    sentence: /exactly 1 should answer true, and 2 did/u,
    subject() {
      const shared = memoryDriver()
      return {
        open() {
          const inserted = new Set<string>()
          return {
            ...shared,
            dispose() {},
            removeItem(key) {
              inserted.delete(key)
              shared.removeItem(key)
            },
            insertItem(key, value, options) {
              if (inserted.has(key)) return false
              inserted.add(key)
              shared.setItem(key, value, options)
              return true
            },
          } satisfies AtomicDriver
        },
      }
    },
  },
  {
    fault: 'an outage looks like an empty storage',
    proof: 'comes back after a real outage with nothing used twice',
    sentence: /during an outage the answer should be 503 .* was 400 invalid_grant/u,
    subject() {
      let away = false
      const good: AtomicDriver = memoryDriver()
      return {
        open: () => ({ ...good, dispose() {}, getItem: (key) => (away ? null : good.getItem(key)) }),
        outage: {
          begin() {
            away = true
          },
          end() {
            away = false
          },
        },
      }
    },
  },
  {
    fault: 'an outage empties the storage',
    proof: 'comes back after a real outage with nothing used twice',
    sentence:
      /not redeemed before an outage should be redeemed after it|after an outage a refresh token should be good/u,
    subject() {
      const shared = memoryDriver()
      let away = false
      const unlessAway = <T>(act: () => T): T => {
        if (away) throw new Error('ECONNREFUSED')
        return act()
      }
      return {
        open: () => ({
          dispose() {},
          getItem: (key) => unlessAway(() => shared.getItem(key)),
          setItem: (key, value, options) => unlessAway(() => shared.setItem(key, value, options)),
          removeItem: (key) => unlessAway(() => shared.removeItem(key)),
          insertItem: (key, value, options) => unlessAway(() => shared.insertItem(key, value, options)),
        }),
        outage: {
          begin() {
            away = true
            shared.clear()
          },
          end() {
            away = false
          },
        },
      }
    },
  },
]
