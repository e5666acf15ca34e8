import { freshKey, recordOf } from './keys.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'

/** Every kind of key that the core writes. */
const kinds = ['code', 'refresh', 'access', 'spent:code', 'spent:refresh', 'replay', 'revoked', 'failure', 'plugin']

export const keeping: readonly Proof[] = [
  {
    name: 'stores, replaces and removes an item',
    async examine(bench) {
      const driver = await bench.open()
      const key = freshKey()
      const [first, second] = [recordOf('first'), recordOf('second')]
      const expect = async (written: string | undefined, when: string): Promise<void> => {
        const found = await driver.get(key)
        if (written === undefined ? found === undefined : isSame(found, written)) return
        bench.broken(`${when} getItem() should return ${shown(written)}, but returned ${shown(found)}`)
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
      if (!(await driver.insert(key, second))) bench.broken('insertItem() of a removed item should return true')
      await expect(second, 'after insertItem() of a removed item')
    },
  },
  {
    name: 'returns null or undefined for an absent item, and removes it without an error',
    async examine(bench) {
      const driver = await bench.open()
      const key = freshKey()
      const found = await driver.get(key)
      if (found !== undefined)
        bench.broken(`getItem() of an absent item should return null, but returned ${shown(found)}`)
      await driver.remove(key)
      await driver.remove(key)
      if (!(await driver.insert(key, recordOf(1)))) {
        bench.broken('insertItem() after removeItem() of an absent item should return true')
      }
    },
  },
  {
    name: 'stores the keys of the core separately',
    async examine(bench) {
      const driver = await bench.open()
      const hash = freshKey('x').slice(2)
      // The same hash under every kind, as with a code and its spent marker.
      const keys = kinds.map((kind) => `${kind}:${hash}`)
      for (const key of keys) {
        if (!(await driver.insert(key, recordOf(key)))) {
          bench.broken(`insertItem(${shown(key)}) should return true, since only other kinds of the same hash exist`)
        }
      }
      for (const key of keys) {
        const found = await driver.get(key)
        if (!isSame(found, recordOf(key)))
          bench.broken(`${shown(key)} should have its own value, but has ${shown(found)}`)
      }
      for (const [index, key] of keys.entries()) {
        await driver.remove(key)
        const next = keys[index + 1]
        if (next !== undefined && (await driver.get(next)) === undefined) {
          bench.broken(`removeItem(${shown(key)}) also removed ${shown(next)}`)
        }
      }
    },
  },
  {
    name: 'inserts only if the item is absent',
    async examine(bench) {
      const driver = await bench.open()
      const [set, inserted] = [freshKey(), freshKey()]
      await driver.set(set, recordOf('set'))
      if (!(await driver.insert(inserted, recordOf('inserted')))) {
        bench.broken('insertItem() of an absent item should return true')
      }
      for (const [key, value] of [
        [set, 'set'],
        [inserted, 'inserted'],
      ] as const) {
        if (await driver.insert(key, recordOf('late'))) {
          bench.broken(`insertItem() over an item that was ${value} should return false`)
        }
        const found = await driver.get(key)
        if (!isSame(found, recordOf(value))) {
          bench.broken(
            `a refused insert should not change an item that was ${value}, but the item is now ${shown(found)}`,
          )
        }
      }
    },
  },
]
