// Drivers that do not answer, begin anew, end too much, or make something else of an outage.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { type Broken, over } from './conformance-broken.ts'

export const brokenLives: readonly Broken[] = [
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
      return { open: () => ({ ...shared, dispose: () => shared.clear() }) }
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
