import { type AtomicDriver, createProvider, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { inOneTrip } from '../support/latency.ts'

const start = (storage: AtomicDriver) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage,
    clients: [],
    plugins: [],
  })

type Items = readonly { readonly key: string; readonly value: unknown }[]

/** A driver whose `getItems()` returns the right items after a change. */
function reading(change: (items: Items) => unknown): AtomicDriver {
  const good = mapDriver()
  const getItems: AtomicDriver['getItems'] = (items) =>
    change(items.map(({ key }) => ({ key, value: good.getItem(key) }))) as Items
  return { ...good, name: 'broken', getItems }
}

const notEach =
  'storage: broken cannot be used: getItems() must return { key, value } once for each key; correct it, or omit it, because it is optional'
const notSame =
  'storage: getItems() of broken must return the same values as getItem(); correct it, or omit it, because it is optional (docs/guides/custom-driver.md)'

describe('rejects a getItems() that', () => {
  test.each<[string, (items: Items) => unknown, string]>([
    ['returns nothing', () => undefined, notEach],
    ['returns a Map', (items) => new Map(items.map(({ key, value }) => [key, value])), notEach],
    ['returns only values', (items) => items.map(({ value }) => value), notEach],
    ['returns null for an absent item', (items) => items.map((item) => (item.value === null ? null : item)), notEach],
    ['omits absent items', (items) => items.filter(({ value }) => value !== null), notEach],
    ['omits the member value', (items) => items.map(({ key }) => ({ key })), notEach],
    ['returns an item twice', (items) => [items[0], items[0]], notEach],
    ['returns more items', (items) => [...items, { key: 'other', value: null }], notEach],
    ['returns other keys', (items) => items.map(({ key, value }) => ({ key: `app:${key}`, value })), notEach],
    ['does not wait', (items) => items.map(({ key, value }) => ({ key, value: Promise.resolve(value) })), notEach],
    ['finds nothing', (items) => items.map(({ key }) => ({ key, value: null })), notSame],
    ['confuses the keys', (items) => items.map(({ key }, at) => ({ key, value: items.at(-1 - at)?.value })), notSame],
  ])('%s', async (_what, change, message) => {
    await expect(start(reading(change))).rejects.toMatchObject({ name: 'TypeError', message })
  })

  test('returns the values of an earlier call', async () => {
    const seen = new Map<string, unknown>()
    const storage = reading((items) =>
      items.map(({ key, value }) => {
        if (!seen.has(key)) seen.set(key, value)
        return { key, value: seen.get(key) }
      }),
    )
    await expect(start(storage)).rejects.toMatchObject({ name: 'TypeError', message: notSame })
  })

  test('belongs to another driver: a wrapper changes the values of all other methods', async () => {
    const good = inOneTrip(mapDriver())
    const storage: AtomicDriver = {
      ...good,
      name: 'broken',
      getItem: (key) => String(good.getItem(key) ?? '').slice(1) || null,
      setItem: (key, value, options) => good.setItem(key, `#${value}`, options),
      insertItem: (key, value, options) => good.insertItem(key, `#${value}`, options),
    }
    await expect(start(storage)).rejects.toMatchObject({ name: 'TypeError', message: notSame })
  })
})

test('reports an error that getItems() returns as a value', async () => {
  const storage = reading((items) => items.map(({ key }) => ({ key, value: new Error('EACCES') })))
  await expect(start(storage)).rejects.toMatchObject({ message: 'storage: broken cannot be used: EACCES' })
})

test('accepts any order, and a driver without getItems()', async () => {
  await expect(start(reading((items) => [...items].reverse()))).resolves.toBeDefined()
  await expect(start({ ...mapDriver(), getItems: undefined })).resolves.toBeDefined()
})
