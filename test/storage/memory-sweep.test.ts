// Writes to the memory driver remove expired items. That must keep up with any pattern of writes without slowing a
// single write.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const advance = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1000)
}

describe('the memory driver', () => {
  test('behaves like a map with expiry for any sequence of writes, removals and waits', () => {
    const key = fc.integer({ min: 0, max: 30 }).map((number) => `key ${number}`)
    const ttl = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0.001, max: 5, noNaN: true }))
    const step = fc.oneof(
      fc.record({ set: key, ttl }),
      fc.record({ insert: key, ttl }),
      fc.record({ remove: key }),
      fc.record({ wait: fc.integer({ min: 0, max: 9000 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const driver = memoryDriver()
        const model = new Map<string, { readonly value: string; readonly end: number }>()
        const live = (name: string) => {
          const item = model.get(name)
          return item !== undefined && item.end > Date.now() ? item : undefined
        }
        for (const [index, next] of steps.entries()) {
          const value = `${index}`
          if ('wait' in next) advance(next.wait / 1000)
          else if ('remove' in next) {
            driver.removeItem(next.remove)
            model.delete(next.remove)
          } else if ('set' in next) {
            driver.setItem(next.set, value, { ttl: next.ttl })
            model.set(next.set, { value, end: Date.now() + next.ttl * 1000 })
          } else {
            const absent = live(next.insert) === undefined
            expect(driver.insertItem(next.insert, value, { ttl: next.ttl })).toBe(absent)
            if (absent) model.set(next.insert, { value, end: Date.now() + next.ttl * 1000 })
          }
        }
        for (let number = 0; number <= 30; number += 1) {
          const name = `key ${number}`
          expect(driver.getItem(name)).toBe(live(name)?.value ?? null)
          expect(driver.hasItem(name)).toBe(live(name) !== undefined)
        }
        expect(driver.getKeys().sort()).toEqual([...model.keys()].filter((name) => live(name)).sort())
      }),
      { numRuns: 300 },
    )
  })

  test.each([1, 100, 5000])('has removed %i expired items after as many writes', (count) => {
    const driver = memoryDriver()
    for (let index = 0; index < count; index += 1) driver.setItem(`ended ${index}`, 'x', { ttl: 60 })
    advance(61)
    for (let index = 0; index < Math.max(count, 10); index += 1) driver.setItem('busy', 'x', { ttl: 6000 })
    expect([...driver.getInstance().keys()]).toEqual(['busy'])
  })

  test('stores few expired items while tokens are created and expire', () => {
    const driver = memoryDriver()
    let largest = 0
    for (let index = 0; index < 60_000; index += 1) {
      driver.setItem(`token ${index}`, 'x', { ttl: 100 })
      if (index % 20 === 0) advance(1)
      if (index % 1000 === 0) largest = Math.max(largest, driver.getInstance().size)
    }
    // 2,000 are live at any time.
    expect(largest).toBeGreaterThan(1900)
    expect(largest).toBeLessThan(2000 * 1.3)
  })

  test('does not grow with how often a key is written or removed', () => {
    const driver = memoryDriver()
    for (let index = 0; index < 50_000; index += 1) {
      driver.setItem('key', `${index}`, { ttl: 600 + index })
      driver.insertItem(`gone ${index}`, 'x', { ttl: 600 })
      driver.removeItem(`gone ${index}`)
    }
    expect([...driver.getInstance().keys()]).toEqual(['key'])
  })

  test('stores no item with a ttl of 0 or less, and removes the existing one', () => {
    const driver = memoryDriver()
    for (const ttl of [0, -1, Number.NaN]) {
      driver.setItem('key', 'there', { ttl: 60 })
      driver.setItem('key', 'ended', { ttl })
      expect([driver.getItem('key'), driver.hasItem('key'), driver.getInstance().size]).toEqual([null, false, 0])
      expect(() => driver.insertItem('key', 'ended', { ttl })).toThrow(RangeError)
    }
  })
})

describe('maxItems', () => {
  test('rejects items beyond the limit and evicts none', () => {
    const driver = memoryDriver({ maxItems: 2 })
    driver.setItem('a', 'x', { ttl: 60 })
    expect(driver.insertItem('b', 'x', { ttl: 60 })).toBe(true)
    expect(() => driver.setItem('c', 'x', { ttl: 60 })).toThrow(
      'The memory driver is full: it holds 2 items; raise maxItems',
    )
    expect(() => driver.insertItem('c', 'x', { ttl: 60 })).toThrow('2 items')
    driver.setItem('a', 'y', { ttl: 60 })
    expect([driver.getItem('a'), driver.getItem('b'), driver.getItem('c')]).toEqual(['y', 'x', null])
    driver.removeItem('a')
    driver.setItem('c', 'x', { ttl: 60 })
    expect(driver.getKeys().sort()).toEqual(['b', 'c'])
  })

  test('accepts new items when old ones expire', () => {
    const driver = memoryDriver({ maxItems: 20 })
    for (let index = 0; index < 20; index += 1) driver.setItem(`${index}`, 'x', { ttl: 10 })
    advance(11)
    for (let index = 0; index < 20; index += 1) driver.setItem(`new ${index}`, 'x', { ttl: 10 })
    expect(driver.getKeys()).toHaveLength(20)
  })

  const item = (key: string, ttl = 10) => ({ key, value: 'x', ttl })

  test('rejects a commit that does not fit, and writes none of it', () => {
    const driver = memoryDriver({ maxItems: 3 })
    driver.setItem('a', 'old', { ttl: 60 })
    driver.setItem('b', 'old', { ttl: 60 })
    const changes = { create: [item('spent')], put: [item('a'), item('access')], remove: ['b'] }
    expect(() => driver.commit(changes)).toThrow('The memory driver is full: it holds 3 items; raise maxItems')
    expect(driver.getKeys().sort()).toEqual(['a', 'b'])
    expect([driver.getItem('a'), driver.getItem('b')]).toEqual(['old', 'old'])
    driver.removeItem('b')
    expect(driver.commit(changes)).toBe(true)
    expect(driver.getKeys().sort()).toEqual(['a', 'access', 'spent'])
  })

  test('accepts commits when old items expire, without any other write', () => {
    const driver = memoryDriver({ maxItems: 20 })
    for (let index = 0; index < 20; index += 1) driver.setItem(`${index}`, 'x', { ttl: 10 })
    advance(11)
    for (let index = 0; index < 10; index += 1) {
      expect(driver.commit({ create: [item(`spent ${index}`)], put: [item(`access ${index}`)], remove: [] })).toBe(true)
    }
    expect(driver.getKeys()).toHaveLength(20)
    // Over expired items, which are then replaced.
    advance(11)
    for (let index = 0; index < 10; index += 1) {
      expect(driver.commit({ create: [item(`spent ${index}`)], put: [item(`access ${index}`)], remove: [] })).toBe(true)
    }
    expect(driver.getKeys()).toHaveLength(20)
  })
})

test.each([0, -1, Number.NaN])('a commit with a ttl of %s is rejected, and nothing is written', (ttl) => {
  const driver = memoryDriver()
  const [good, wrong] = [
    { key: 'good', value: 'x', ttl: 60 },
    { key: 'wrong', value: 'x', ttl },
  ]
  for (const changes of [
    { create: [good, wrong], put: [], remove: [] },
    { create: [], put: [good, wrong], remove: [] },
  ]) {
    expect(() => driver.commit(changes)).toThrow(
      new RangeError(`The ttl of a committed item is ${ttl} s; give more than 0`),
    )
  }
  expect(driver.getKeys()).toEqual([])
})
