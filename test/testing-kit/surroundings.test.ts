import { createTestClock, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

describe('createTestClock()', () => {
  test('stands still', () => {
    const clock = createTestClock()
    expect(clock.now()).toBe(1_800_000_000)
    expect(clock.now()).toBe(1_800_000_000)
  })

  test('starts at the given time and advances by the given seconds', () => {
    const clock = createTestClock(100)
    clock.advance(5)
    clock.advance(0)
    clock.advance(55)
    expect(clock.now()).toBe(160)
  })

  test('is independent of every other one', () => {
    const [first, second] = [createTestClock(), createTestClock()]
    first.advance(1)
    expect(second.now()).toBe(1_800_000_000)
  })

  test('works when detached from its object: the runtime takes only now()', () => {
    const { now, advance } = createTestClock(1)
    advance(1)
    expect(now()).toBe(2)
  })
})

describe('mapDriver()', () => {
  const ttl = { ttl: 1 }

  test('stores, returns null for an absent item, and removes', () => {
    const driver = mapDriver()
    expect(driver.getItem('a')).toBeNull()
    driver.setItem?.('a', 'one', ttl)
    expect(driver.getItem('a')).toBe('one')
    driver.setItem?.('a', 'two', ttl)
    expect(driver.getItem('a')).toBe('two')
    driver.removeItem?.('a', {})
    expect(driver.getItem('a')).toBeNull()
  })

  test('inserts once, and does not change an existing item', () => {
    const driver = mapDriver()
    expect(driver.insertItem('a', 'one', ttl)).toBe(true)
    expect(driver.insertItem('a', 'two', ttl)).toBe(false)
    expect(driver.getItem('a')).toBe('one')
    driver.removeItem?.('a', {})
    expect(driver.insertItem('a', 'three', ttl)).toBe(true)
  })

  test('does not overwrite the empty string either', () => {
    const driver = mapDriver()
    driver.setItem?.('a', '', ttl)
    expect(driver.insertItem('a', 'one', ttl)).toBe(false)
    expect(driver.getItem('a')).toBe('')
  })

  test('lets one of many racers win', async () => {
    const driver = mapDriver()
    const race = Array.from({ length: 50 }, async (_, racer) => driver.insertItem('a', String(racer), ttl))
    expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1)
  })

  test('shares the given map, and has its own otherwise', () => {
    const items = new Map([['a', 'one']])
    const [first, second] = [mapDriver(items), mapDriver(items)]
    expect(first.insertItem('b', 'x', ttl)).toBe(true)
    expect(second.insertItem('b', 'y', ttl)).toBe(false)
    expect(items).toEqual(
      new Map([
        ['a', 'one'],
        ['b', 'x'],
      ]),
    )
    expect(mapDriver().getItem('a')).toBeNull()
  })
})
