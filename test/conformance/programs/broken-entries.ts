// Drivers that lose changes of lists and entries, or list too few of them.
import type { AtomicDriver } from '@grantry/core'
import { type Broken, over, turn } from './broken.ts'

type ReplaceItem = AtomicDriver['replaceItem']
type ListKeys = (base: string, page: { readonly after: string; readonly limit: number }) => Promise<string[]> | string[]

const replacing = (replace: (good: ReplaceItem, set: (key: string, value: string) => void) => ReplaceItem) =>
  over((good) => ({
    replaceItem: replace(good.replaceItem, (key, value) => void good.setItem(key, value, { ttl: 3600 })),
  }))

/** Compares another form of the values. */
const comparing = (form: (text: string) => string) =>
  over((good) => ({
    async replaceItem(key, { from, to, ttl }) {
      const stored = await good.getItem(key)
      return (
        typeof stored === 'string' && form(stored) === form(from) && good.replaceItem(key, { from: stored, to, ttl })
      )
    },
  }))

const listing = (list: (good: ListKeys) => ListKeys) => over((good) => ({ listKeys: list(good.listKeys as ListKeys) }))

const expected = 'replaces an item only if it has the expected value'
const characters = 'compares each character of a value that it replaces'
const order = 'lists the keys of entries in pages, in the order of their characters'

export const brokenEntries: readonly Broken[] = [
  {
    fault: 'replaceItem() does not compare',
    proof: expected,
    sentence: /replaceItem\(\) with an earlier value of the item should return false/u,
    subject: replacing((_, set) => (key, { to }) => {
      set(key, to)
      return true
    }),
  },
  {
    fault: 'replaceItem() writes before it compares',
    proof: expected,
    sentence: /the value should be the one that replaced it/u,
    subject: replacing((good, set) => async (key, value) => {
      const replaced = await good(key, value)
      if (!replaced) set(key, value.to)
      return replaced
    }),
  },
  {
    fault: 'replaceItem() lets another one in between',
    proof: 'lets exactly one of many concurrent replacements win',
    sentence: /exactly 1 should return true, but 30 did/u,
    subject: over((good) => ({
      async replaceItem(key, { from, to }) {
        if ((await good.getItem(key)) !== from) return false
        await turn()
        await good.setItem(key, to, { ttl: 3600 })
        return true
      },
    })),
  },
  {
    fault: 'replaceItem() ignores case',
    proof: characters,
    sentence: /replaceItem\(\) with the value of the item in another case should return false/u,
    subject: comparing((text) => text.toLowerCase()),
  },
  {
    fault: 'replaceItem() compares parsed JSON',
    proof: characters,
    sentence: /replaceItem\(\) with the value of the item with a space in its JSON should return false/u,
    subject: comparing((text) => (text.includes('\0') ? text : JSON.stringify(JSON.parse(text)))),
  },
  {
    fault: 'replaceItem() compares the bytes of UTF-8',
    proof: characters,
    sentence: /replaceItem\(\) with the value of the item with a lone surrogate should return false/u,
    subject: comparing((text) => Buffer.from(text).toString()),
  },
  {
    fault: 'a removal during replaceItem() is lost',
    proof: 'removes an item that others replace at the same time',
    sentence: /an item that was removed while others replace it should be absent, but is "/u,
    subject: over((good) => ({
      async replaceItem(key, { from, to, ttl }) {
        if ((await good.getItem(key)) !== from) return false
        await turn()
        await good.setItem(key, to, { ttl })
        return true
      },
    })),
  },
  {
    fault: 'replaceItem() brings back an item that has expired',
    proof: 'replaces no item that has expired',
    sentence: /replaceItem\(\) of an item that has expired should return false/u,
    subject: () => {
      const values = new Map<string, string>()
      return over((good) => ({
        insertItem(key, value, options) {
          values.set(key, value)
          return good.insertItem(key, value, options)
        },
        async replaceItem(key, { from, to, ttl }) {
          if (values.get(key) !== from) return false
          values.set(key, to)
          await good.setItem(key, to, { ttl })
          return true
        },
      }))()
    },
  },
  {
    fault: 'replaceItem() with a ttl of 0 keeps the item without an end',
    proof: 'never keeps a replacement whose ttl is 0 or less',
    sentence: /a value that has replaced another one with a ttl of 0 s must not be readable/u,
    subject: replacing((good) => (key, change) => good(key, { ...change, ttl: change.ttl > 0 ? change.ttl : 3600 })),
  },
  {
    fault: 'replaceItem() during an outage says that the value is another one',
    proof: 'reports of each replacement around an outage what has happened',
    sentence: /replaceItem\(\) with the value of the item should return true, or reject, also during an outage/u,
    subject() {
      let away = false
      const open = over((good) => ({ replaceItem: (key, change) => !away && good.replaceItem(key, change) }))().open
      const outage = {
        begin() {
          away = true
        },
        end() {
          away = false
        },
      }
      return { open, outage }
    },
  },
  {
    fault: 'replaceItem() keeps the former end of the item',
    proof: 'gives an item that is replaced a new end',
    sentence: /an item that would have ended earlier, and was replaced, with a ttl of \d+ s should live for \d+ s/u,
    subject: () => {
      const ends = new Map<string, number>()
      return over((good) => ({
        insertItem(key, value, { ttl }) {
          ends.set(key, Date.now() + ttl * 1000)
          return good.insertItem(key, value, { ttl })
        },
        replaceItem: (key, change) =>
          good.replaceItem(key, {
            ...change,
            ttl: ((ends.get(key) ?? Date.now() + change.ttl * 1000) - Date.now()) / 1000,
          }),
      }))()
    },
  },
  {
    fault: 'listKeys() folds case in its order',
    proof: order,
    sentence: /pages of 100 keys should be/u,
    subject: listing(
      (good) => async (base, page) =>
        [...(await good(base, page))].sort((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1)),
    ),
  },
  {
    fault: 'listKeys() repeats the last key of a page',
    proof: order,
    sentence: /pages of 1 keys should be/u,
    subject: listing(
      (good) =>
        (base, { after, limit }) =>
          good(base, { after: after.slice(0, -1), limit }),
    ),
  },
  {
    fault: 'pages of listKeys() are counted',
    proof: 'lists every key that exists while others are added and removed',
    sentence: /keys were in no page while others changed|a key was in two pages/u,
    subject: () => {
      const seen = new Map<string, number>()
      return listing((good) => async (base, { after, limit }) => {
        const skipped = after === '' ? 0 : (seen.get(base) ?? 0) + limit
        seen.set(base, skipped)
        await turn()
        return (await good(base, { after: '', limit: skipped + limit })).slice(skipped)
      })()
    },
  },
]
