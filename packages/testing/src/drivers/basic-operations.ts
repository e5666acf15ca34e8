import type { Proof } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'

/** Every kind of key that the core writes. */
const kinds = ['code', 'refresh', 'access', 'spent:code', 'spent:refresh', 'replay', 'revoked', 'failure', 'plugin']

export const basicOperations: readonly Proof[] = [
  {
    name: 'stores, replaces and removes an item',
    async run(context) {
      const driver = await context.open()
      const key = freshKey()
      const [first, second] = [recordOf('first'), recordOf('second')]
      const expect = async (written: string | undefined, when: string): Promise<void> => {
        const stored = await driver.get(key)
        if (written === undefined ? stored === undefined : isSameValue(stored, written)) return
        context.fail(`${when} getItem() should return ${abbreviate(written)}, but returned ${abbreviate(stored)}`)
      }
      await driver.set(key, first)
      await expect(first, 'after setItem()')
      await driver.set(key, second)
      await expect(second, 'after setItem() over an item')
      await driver.remove(key)
      await expect(undefined, 'after removeItem()')
      await driver.set(key, first)
      await expect(first, 'after setItem() of a removed item')
      await driver.remove(key)
      if (!(await driver.insert(key, second))) context.fail('insertItem() of a removed item should return true')
      await expect(second, 'after insertItem() of a removed item')
    },
  },
  {
    name: 'returns null or undefined for an absent item, and removes it without an error',
    async run(context) {
      const driver = await context.open()
      const key = freshKey()
      const stored = await driver.get(key)
      if (stored !== undefined)
        context.fail(`getItem() of an absent item should return null, but returned ${abbreviate(stored)}`)
      await driver.remove(key)
      await driver.remove(key)
      if (!(await driver.insert(key, recordOf(1)))) {
        context.fail('insertItem() after removeItem() of an absent item should return true')
      }
    },
  },
  {
    name: 'stores the keys of the core separately',
    async run(context) {
      const driver = await context.open()
      const hash = freshKey('x').slice(2)
      // The same hash under every kind, as with a code and its spent marker.
      const keys = kinds.map((kind) => `${kind}:${hash}`)
      for (const key of keys) {
        if (!(await driver.insert(key, recordOf(key)))) {
          context.fail(
            `insertItem(${abbreviate(key)}) should return true, since only other kinds of the same hash exist`,
          )
        }
      }
      for (const key of keys) {
        const stored = await driver.get(key)
        if (!isSameValue(stored, recordOf(key)))
          context.fail(`${abbreviate(key)} should have its own value, but has ${abbreviate(stored)}`)
      }
      for (const [index, key] of keys.entries()) {
        await driver.remove(key)
        const next = keys[index + 1]
        if (next !== undefined && (await driver.get(next)) === undefined) {
          context.fail(`removeItem(${abbreviate(key)}) also removed ${abbreviate(next)}`)
        }
      }
    },
  },
  {
    name: 'inserts only if the item is absent',
    async run(context) {
      const driver = await context.open()
      const [set, inserted] = [freshKey(), freshKey()]
      await driver.set(set, recordOf('set'))
      if (!(await driver.insert(inserted, recordOf('inserted')))) {
        context.fail('insertItem() of an absent item should return true')
      }
      for (const [key, value] of [
        [set, 'set'],
        [inserted, 'inserted'],
      ] as const) {
        if (await driver.insert(key, recordOf('late'))) {
          context.fail(`insertItem() over an item that was ${value} should return false`)
        }
        const stored = await driver.get(key)
        if (!isSameValue(stored, recordOf(value))) {
          context.fail(
            `a refused insert should not change an item that was ${value}, but the item is now ${abbreviate(stored)}`,
          )
        }
      }
    },
  },
]
