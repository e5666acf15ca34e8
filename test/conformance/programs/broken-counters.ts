// Drivers with a faulty counter.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { type Broken, over, turn } from './broken.ts'

const exact = 'counts from 1 without gaps or duplicates under concurrent calls'
const end = 'expires a counter after the ttl of its creation'

export const brokenCounters: readonly Broken[] = [
  {
    fault: 'incrementItem() reads first and writes later',
    proof: exact,
    sentence:
      /40 calls of incrementItem\(\) with one key at the same time should return 1 to 40, each once, but returned \d+ different/u,
    subject: over((good) => ({
      async incrementItem(key, options) {
        const count = Number((await good.getItem(key)) ?? 0) + 1
        await turn()
        await good.setItem(key, String(count), options)
        return count
      },
    })),
  },
  {
    fault: 'incrementItem() returns the previous value',
    proof: exact,
    sentence: /must return a positive integer, but returned 0/u,
    subject: over((good) => ({
      incrementItem: async (key, options) => Number(await good.incrementItem(key, options)) - 1,
    })),
  },
  {
    fault: 'removeItem() leaves counters',
    proof: exact,
    sentence: /after removeItem\(\), incrementItem\(\) should return 1, but returned 4/u,
    subject: over(() => {
      const counters = memoryDriver()
      return { incrementItem: (key, options) => counters.incrementItem(key, options) }
    }),
  },
  {
    fault: 'incrementItem() returns a string',
    proof: exact,
    sentence: /must return a positive integer, but returned "1"/u,
    subject: over((good) => ({
      incrementItem: async (key, options) => String(await good.incrementItem(key, options)) as unknown as number,
    })),
  },
  {
    fault: 'every increment extends a counter',
    proof: end,
    sentence: /should restart after 2 s, even when it is incremented constantly/u,
    subject: over((good) => ({
      incrementItem(key, options) {
        const count = Number(good.getItem(key) ?? 0) + 1
        good.setItem(key, String(count), options)
        return count
      },
    })),
  },
  {
    fault: 'a counter never expires',
    proof: end,
    sentence: /a counter with a ttl of 2 s should restart/u,
    subject: over((good) => ({ incrementItem: (key) => good.incrementItem(key, { ttl: 40_000 }) })),
  },
  {
    fault: 'a counter expires early',
    proof: end,
    sentence: /should live for \d+ s, but restarted after/u,
    subject: over((good) => ({
      incrementItem: (key, { ttl }) => good.incrementItem(key, { ttl: Math.min(ttl, 1) }),
    })),
  },
  {
    fault: 'similar keys share a counter',
    proof: 'counts every hostile key separately or rejects it',
    sentence: /should return 1 or reject, since only similar keys were incremented/u,
    subject: over((good) => ({
      incrementItem: (key, options) => good.incrementItem(key.toLowerCase(), options),
    })),
  },
  {
    fault: 'two drivers of one process read first and write later, each under its own lock',
    proof: 'counts each call once through two drivers of one process',
    sentence: /at the same time should return 1 to 40, each once/u,
    subject() {
      const shared: AtomicDriver = memoryDriver()
      return {
        open() {
          let last: Promise<unknown> = Promise.resolve()
          return {
            ...shared,
            dispose() {},
            incrementItem(key, options) {
              const counted = last.then(async () => {
                const count = Number((await shared.getItem(key)) ?? 0) + 1
                await turn()
                await shared.setItem(key, String(count), options)
                return count
              })
              last = counted
              return counted
            },
          } satisfies AtomicDriver
        },
      }
    },
  },
  {
    fault: 'an outage restarts every counter',
    proof: 'counts correctly or rejects during a real outage, and counts again after it',
    sentence: /during an outage incrementItem\(\) should reject or return 2, but returned 1/u,
    subject() {
      let away = false
      const good: AtomicDriver = memoryDriver()
      return {
        open: () => ({
          ...good,
          dispose() {},
          incrementItem: (key, options) => (away ? 1 : good.incrementItem(key, options)),
        }),
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
]
