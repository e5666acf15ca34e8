import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { observedDriver } from '../../packages/server/src/observability/observed-driver.ts'

function received() {
  const ended: string[] = []
  const begin = (operation: string) => (failed: boolean) => {
    ended.push(`${operation} ${failed ? 'failed' : 'ok'}`)
  }
  return { ended, begin }
}

test('a synchronous operation stays synchronous, with the same result', () => {
  const { ended, begin } = received()
  const driver = observedDriver(memoryDriver(), begin)
  expect(driver.insertItem('a:b', 'text', { ttl: 60 })).toBe(true)
  expect(driver.insertItem('a:b', 'other', { ttl: 60 })).toBe(false)
  expect(driver.getItem('a:b')).toBe('text')
  expect(ended).toEqual(['insertItem ok', 'insertItem ok', 'getItem ok'])
})

test('returns the same promise, and counts it when it settles', async () => {
  const { ended, begin } = received()
  const promise = Promise.resolve('text')
  const failing = Promise.reject(new Error('out of reach'))
  const late: AtomicDriver = { ...mapDriver(), getItem: () => promise, removeItem: () => failing }
  const driver = observedDriver(late, begin)
  expect(driver.getItem('a:b')).toBe(promise)
  expect(driver.removeItem('a:b', {})).toBe(failing)
  expect(ended).toEqual([])
  await expect(failing).rejects.toThrow('out of reach')
  expect([...ended].sort()).toEqual(['getItem ok', 'removeItem failed'])
})

test('a promise that resolves with an error counts as failed', async () => {
  const { ended, begin } = received()
  const late: AtomicDriver = { ...mapDriver(), getItem: async () => new Error('returned') }
  await observedDriver(late, begin).getItem('a:b')
  expect(ended).toEqual(['getItem failed'])
})

test('rethrows errors, and counts returned errors as failed', () => {
  const { ended, begin } = received()
  const broken: AtomicDriver = {
    ...mapDriver(),
    getItem: () => new Error('returned'),
    removeItem(): void {
      throw new Error('thrown')
    },
  }
  const driver = observedDriver(broken, begin)
  expect(driver.getItem('a:b')).toBeInstanceOf(Error)
  expect(() => driver.removeItem('a:b', {})).toThrow('thrown')
  expect(ended).toEqual(['getItem failed', 'removeItem failed'])
})

test('keeps every member: unknown, inherited, classes and values', () => {
  const { ended, begin } = received()
  class Base {
    readonly #items = new Map([['a', 1]])
    get size(): number {
      return this.#items.size
    }
    incrementItem(key: string): number {
      this.#items.set(key, (this.#items.get(key) ?? 0) + 1)
      return this.#items.get(key) ?? 0
    }
  }
  class Later extends Base {
    readonly name = 'later'
    readonly options = { flag: true }
    open(): void {}
    dispose(): void {}
  }
  const driver = observedDriver(Object.freeze(new Later()) as unknown as AtomicDriver, begin) as unknown as Later
  expect([driver.incrementItem('a'), driver.incrementItem('a'), driver.size, driver.name]).toEqual([2, 3, 1, 'later'])
  expect(driver.options).toEqual({ flag: true })
  driver.open()
  driver.dispose()
  expect(ended).toEqual(['incrementItem ok', 'incrementItem ok'])
})

test('keeps every member of a driver of this project', () => {
  const plain = memoryDriver()
  const observed = observedDriver(plain, () => () => {})
  for (const name of Object.keys(plain)) expect(observed).toHaveProperty(name)
})
