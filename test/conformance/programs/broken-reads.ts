// Drivers whose getItems() does not return what getItem() does.
import type { AtomicDriver } from '@grantry/core'
import { type Broken, over } from './broken.ts'

type Read = (key: string) => unknown
type Items = { key: string; value: unknown }[]

/** A driver whose `getItems()` returns the right items after a change. */
const reading = (change: (items: Items, read: Read) => unknown) =>
  over((good: AtomicDriver) => ({
    getItems: (wanted) =>
      change(
        wanted.map(({ key }) => ({ key, value: good.getItem(key) })),
        (key) => good.getItem(key),
      ) as never,
  }))

const proof = 'reads several items in one call, each with its own current value'
const notEach = /getItems\(\) of \d items must return \{ key, value \} once for each of them, but returned/u

export const brokenReads: readonly Broken[] = [
  {
    fault: 'getItems() returns the values in another order than the keys',
    proof,
    sentence: /after the writes getItems\(\) should return .* for an item that was set, but returned/u,
    subject: reading((items) => items.map(({ key }, index) => ({ key, value: items.at(-1 - index)?.value }))),
  },
  {
    fault: 'getItems() omits absent items',
    proof,
    sentence: notEach,
    subject: reading((items) => items.filter(({ value }) => value !== null)),
  },
  {
    fault: 'getItems() omits a marker',
    proof,
    sentence: notEach,
    subject: reading((items) => items.filter(({ key }) => !key.startsWith('spent:'))),
  },
  {
    fault: 'getItems() does not find markers, as if they were in another place',
    proof,
    sentence: /should return .* for an item that was inserted, but returned nothing/u,
    subject: reading((items) => items.map((item) => (item.key.startsWith('spent:') ? { ...item, value: null } : item))),
  },
  {
    fault: 'getItems() returns one item twice, and another one not',
    proof,
    sentence: notEach,
    subject: reading((items) => [...items.slice(1), items[1]]),
  },
  {
    fault: 'getItems() returns keys of its own storage',
    proof,
    sentence: notEach,
    subject: reading((items) => items.map(({ key, value }) => ({ key: `app:${key}`, value }))),
  },
  {
    fault: 'getItems() returns only values',
    proof,
    sentence: notEach,
    subject: reading((items) => items.map(({ value }) => value)),
  },
  {
    fault: 'getItems() returns the values of an earlier call',
    proof,
    sentence: /after (?:the|later) writes getItems\(\) should return/u,
    subject: over((good) => {
      const seen = new Map<string, unknown>()
      return {
        getItems: (wanted) =>
          wanted.map(({ key }) => {
            if (!seen.has(key)) seen.set(key, good.getItem(key))
            return { key, value: seen.get(key) }
          }),
      }
    }),
  },
  {
    fault: 'getItems() returns an Error as a value, as the file driver of unstorage does',
    proof,
    sentence: /getItems\(\) returned as a value an Error: ENOENT/u,
    subject: reading((items) =>
      items.map((item) => (item.value === null ? { ...item, value: new Error('ENOENT') } : item)),
    ),
  },
  {
    fault: 'getItems() does not wait for the values',
    proof,
    sentence: /getItems\(\) returned as a value a promise/u,
    subject: reading((items, read) => items.map(({ key }) => ({ key, value: Promise.resolve(read(key)) }))),
  },
  {
    fault: 'getItems() mixes up concurrent calls',
    proof: 'reads several items in one call while others are read',
    sentence: /of 40 concurrent reads of different items, \d+ returned values of other items/u,
    subject: over((good) => {
      let current: readonly { key: string }[] = []
      return {
        async getItems(wanted) {
          current = wanted
          await Promise.resolve()
          return wanted.map(({ key }, index) => ({ key, value: good.getItem(current[index]?.key ?? key) }))
        },
      }
    }),
  },
  {
    fault: 'getItems() returns expired items',
    proof: 'returns no expired item among several',
    sentence: /an item that getItems\(\) reads with a ttl of 1 s should be gone after 1 s/u,
    subject: over((good) => {
      const written = new Map<string, string>()
      return {
        setItem(key, value, options) {
          written.set(key, value)
          return good.setItem(key, value, options)
        },
        getItems: (wanted) => wanted.map(({ key }) => ({ key, value: written.get(key) })),
      }
    }),
  },
]
