// Drivers that hang, lose items on open(), dispose of too much, or misreport an outage.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { type Broken, over } from './broken.ts'

export const brokenLives: readonly Broken[] = [
  {
    fault: 'it hangs',
    proof: 'stores, replaces and removes an item',
    sentence: /getItem\(.*\) did not end within 5 s/u,
    subject: over(() => ({ getItem: () => new Promise(() => {}) })),
  },
  {
    fault: 'a second open() clears the storage',
    proof: 'keeps its items when it is opened twice',
    sentence: /gone after a second open\(\)/u,
    subject: over((good) => ({ open: () => (good as ReturnType<typeof memoryDriver>).clear() })),
  },
  {
    fault: 'dispose() closes the storage of other drivers',
    proof: 'is disposed of without affecting other drivers',
    sentence: /dispose\(\) of one driver removed an item of another one/u,
    subject() {
      const shared = memoryDriver()
      return { open: () => ({ ...shared, dispose: () => shared.clear() }) }
    },
  },
  {
    fault: "two drivers of one process do not see each other's inserts",
    proof: 'lets exactly one of many concurrent inserts win through two drivers of one process',
    sentence: /exactly 1 should return true, but 2 did/u,
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
    proof: 'recovers from a real outage without a second redemption',
    sentence: /during an outage the response should be 503 .* was 400 invalid_grant/u,
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
    proof: 'recovers from a real outage without a second redemption',
    sentence:
      /not redeemed before an outage should be redeemed after it|after an outage a refresh token should be valid/u,
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
          incrementItem: (key, options) => unlessAway(() => shared.incrementItem(key, options)),
          replaceItem: (key, change) => unlessAway(() => shared.replaceItem(key, change)),
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
