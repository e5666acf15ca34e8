import { freshKey, recordOf } from './keys.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'

/** Every form of key that the core writes. */
const kinds = ['code', 'refresh', 'access', 'spent:code', 'spent:refresh', 'replay', 'revoked', 'failure', 'plugin']

export const keeping: readonly Proof[] = [
  {
    name: 'keeps, replaces and removes an item',
    async examine(bench) {
      const driver = await bench.open()
      const key = freshKey()
      const [first, second] = [recordOf('first'), recordOf('second')]
      const expect = async (written: string | undefined, when: string): Promise<void> => {
        const found = await driver.get(key)
        if (written === undefined ? found === undefined : isSame(found, written)) return
        bench.broken(`${when} getItem() should give ${shown(written)} and gave ${shown(found)}`)
      }
      await driver.set(key, first)
      await expect(first, 'after setItem()')
      await driver.set(key, second)
      await expect(second, 'after setItem() over an item')
      await driver.remove(key)
      await expect(undefined, 'after removeItem()')
      await driver.set(key, first)
      await expect(first, 'after setItem() of what was removed')
      await driver.remove(key)
      if (!(await driver.insert(key, second))) bench.broken('insertItem() of what was removed should answer true')
      await expect(second, 'after insertItem() of what was removed')
    },
  },
  {
    name: 'answers null or undefined for what is absent, and removes it without failing',
    async examine(bench) {
      const driver = await bench.open()
      const key = freshKey()
      const found = await driver.get(key)
      if (found !== undefined)
        bench.broken(`getItem() of what was never written should be null and was ${shown(found)}`)
      await driver.remove(key)
      await driver.remove(key)
      if (!(await driver.insert(key, recordOf(1)))) {
        bench.broken('insertItem() of what was removed before it was there should answer true')
      }
    },
  },
  {
    name: 'keeps the keys of the core apart',
    async examine(bench) {
      const driver = await bench.open()
      const hash = freshKey('x').slice(2)
      // One hash under every kind, as a code and its marker have it.
      const keys = kinds.map((kind) => `${kind}:${hash}`)
      for (const key of keys) {
        if (!(await driver.insert(key, recordOf(key)))) {
          bench.broken(`insertItem(${shown(key)}) should answer true: only other kinds of the same hash are there`)
        }
      }
      for (const key of keys) {
        const found = await driver.get(key)
        if (!isSame(found, recordOf(key)))
          bench.broken(`${shown(key)} should have its own value and has ${shown(found)}`)
      }
      for (const [index, key] of keys.entries()) {
        await driver.remove(key)
        const next = keys[index + 1]
        if (next !== undefined && (await driver.get(next)) === undefined) {
          bench.broken(`removeItem(${shown(key)}) has removed ${shown(next)} too`)
        }
      }
    },
  },
  {
    name: 'inserts only what is absent',
    async examine(bench) {
      const driver = await bench.open()
      const [set, inserted] = [freshKey(), freshKey()]
      await driver.set(set, recordOf('set'))
      if (!(await driver.insert(inserted, recordOf('inserted')))) {
        bench.broken('insertItem() of what is absent should answer true')
      }
      for (const [key, value] of [
        [set, 'set'],
        [inserted, 'inserted'],
      ] as const) {
        if (await driver.insert(key, recordOf('late'))) {
          bench.broken(`insertItem() over an item that was ${value} should answer false`)
        }
        const found = await driver.get(key)
        if (!isSame(found, recordOf(value))) {
          bench.broken(
            `an item that was ${value} should stay as it was when an insert is refused, and is ${shown(found)}`,
          )
        }
      }
    },
  },
]
