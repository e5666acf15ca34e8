import { type MemoryDriver, memoryDriver } from '@grantry/storage-drivers/memory'
import { createStorage, prefixStorage, restoreSnapshot, type Storage, snapshot } from 'unstorage'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const minute = 60
const day = 86_400

let driver: MemoryDriver
let storage: Storage

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
  driver = memoryDriver()
  storage = createStorage({ driver })
})
afterEach(() => {
  vi.useRealTimers()
})

const advance = (seconds: number): void => {
  vi.advanceTimersByTime(seconds * 1000)
}
/** The content of the memory, expired or not. */
const held = (): number => driver.getInstance?.().size ?? Number.NaN
const fill = (count: number, ttl: number): Promise<void> =>
  storage.setItems(
    Array.from({ length: count }, (_, index) => ({ key: `filled:${index}`, value: 'x' })),
    { ttl },
  )

describe('the memory driver in unstorage', () => {
  test('sets, gets, has and removes', async () => {
    expect([await storage.getItem('code:a'), await storage.hasItem('code:a')]).toEqual([null, false])
    await storage.setItem('code:a', 'one')
    await storage.setItem('code:a', 'two')
    expect([await storage.getItem('code:a'), await storage.hasItem('code:a')]).toEqual(['two', true])
    await storage.removeItem('code:a')
    expect([await storage.getItem('code:a'), await storage.hasItem('code:a')]).toEqual([null, false])
    await storage.removeItem('code:a')
  })

  test.each([[{ nested: [1, null, { deep: true }] }], [0], [false], [''], ['text'], [['a', 'b']]])(
    'returns %o unchanged',
    async (value) => {
      await storage.setItem('item', value)
      expect(await storage.getItem('item')).toEqual(value)
      expect(await storage.hasItem('item')).toBe(true)
    },
  )

  test('keeps raw bytes', async () => {
    await storage.setItemRaw('raw.bin', new Uint8Array([0, 255, 128]))
    expect([...((await storage.getItemRaw<Uint8Array>('raw.bin')) ?? [])]).toEqual([0, 255, 128])
  })

  test('writes and reads many items', async () => {
    await storage.setItems([
      { key: 'a:1', value: 'one' },
      { key: 'a:2', value: 'two' },
    ])
    const many = await storage.getItems(['a:2', 'a:1', 'a:missing'])
    expect(many.map(({ key, value }) => [key, value])).toEqual([
      ['a:2', 'two'],
      ['a:1', 'one'],
      ['a:missing', null],
    ])
  })

  test('lists keys, under a base and to a depth', async () => {
    for (const key of ['top', 'a:1', 'a:b:2', 'c:3']) await storage.setItem(key, 'x')
    expect((await storage.getKeys()).sort()).toEqual(['a:1', 'a:b:2', 'c:3', 'top'])
    expect((await storage.getKeys('a')).sort()).toEqual(['a:1', 'a:b:2'])
    expect(await storage.getKeys('', { maxDepth: 0 })).toEqual(['top'])
    expect(await prefixStorage(storage, 'a').getKeys()).toEqual(['1', 'b:2'])
  })

  test('clears a storage, even an empty one', async () => {
    await fill(3, minute)
    await storage.clear()
    expect([await storage.getKeys(), held()]).toEqual([[], 0])
    await storage.clear()
    expect(await storage.getItem('filled:0')).toBeNull()
  })

  test('has no metadata of a missing item, and keeps what is set', async () => {
    expect(await storage.getMeta('missing')).toEqual({})
    await storage.setItem('item', 'x')
    await storage.setMeta('item', { owner: 'alice' })
    expect(await storage.getMeta('item')).toEqual({ owner: 'alice' })
  })

  test('restores a snapshot', async () => {
    await restoreSnapshot(storage, { a: 'one', b: { two: 2 } }, 'kept')
    expect(await snapshot(storage, 'kept')).toEqual({ a: 'one', b: { two: 2 } })
  })

  test('works beside other drivers at a mount point', async () => {
    const mounted = createStorage().mount('tokens', driver)
    await mounted.setItem('tokens:a', 'x', { ttl: minute })
    await mounted.setItem('elsewhere', 'y')
    expect([...(driver.getInstance?.().keys() ?? [])]).toEqual(['a'])
    await mounted.unmount('tokens')
    expect(await mounted.getItem('tokens:a')).toBeNull()
  })

  test('notifies watchers', async () => {
    const seen: string[] = []
    await storage.watch((event, key) => seen.push(`${event} ${key}`))
    await storage.setItem('a', 'x')
    await storage.removeItem('a')
    expect(seen).toEqual(['update a', 'remove a'])
  })

  test('keeps its items when one of its users disposes of it', async () => {
    await fill(3, minute)
    await storage.dispose()
    expect(held()).toBe(3)
  })
})

describe('expiry of the memory driver', () => {
  test('an item is gone when its ttl is over, in every operation', async () => {
    await storage.setItem('a', 'x', { ttl: minute })
    advance(minute - 1)
    expect([await storage.getItem('a'), await storage.hasItem('a'), await storage.getKeys()]).toEqual([
      'x',
      true,
      ['a'],
    ])
    advance(1)
    expect([await storage.getItem('a'), await storage.hasItem('a'), await storage.getKeys()]).toEqual([null, false, []])
    expect(await storage.getItems(['a'])).toEqual([{ key: 'a', value: null }])
  })

  test('a later write replaces the ttl: longer, shorter, or none', async () => {
    for (const key of ['longer', 'shorter', 'none']) await storage.setItem(key, 'old', { ttl: 10 * minute })
    await storage.setItem('longer', 'new', { ttl: 20 * minute })
    await storage.setItem('shorter', 'new', { ttl: minute })
    await storage.setItem('none', 'new')
    advance(15 * minute)
    // Each write sweeps: a renewed item must survive being listed under its former expiry.
    for (let write = 0; write < 200; write += 1) await storage.setItem('writer', 'x')
    expect((await storage.getKeys()).sort()).toEqual(['longer', 'none', 'writer'])
  })

  // setTimeout fires immediately for more than 24.8 days: a driver with timers would lose these.
  test('an item with a ttl of 40 days lives 40 days', async () => {
    await storage.setItem('set', 'x', { ttl: 40 * day })
    await driver.insertItem('inserted', 'x', { ttl: 40 * day })
    for (let passed = 1; passed < 40; passed += 1) {
      advance(day)
      await storage.setItem('writer', 'x')
    }
    advance(day - 1)
    expect([await storage.getItem('set'), await storage.getItem('inserted')]).toEqual(['x', 'x'])
    advance(1)
    expect([await storage.getItem('set'), await storage.getItem('inserted')]).toEqual([null, null])
  })

  test('leaves no timer running', async () => {
    await fill(100, minute)
    await driver.insertItem('inserted', 'x', { ttl: 40 * day })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('later writes drop expired items, a few at a time', async () => {
    await fill(1000, minute)
    advance(minute + 2)
    const sizes = [held()]
    for (let write = 0; write < 150; write += 1) {
      await storage.setItem('writer', 'x')
      sizes.push(held())
    }
    const dropped = sizes.slice(1).map((size, index) => (sizes[index] ?? 0) - size)
    // No write pays for all: dropping a thousand in one go would stall every request of the process.
    expect(Math.max(...dropped)).toBeLessThanOrEqual(50)
    expect(held()).toBe(1)
  })

  test('an insert sweeps like a set', async () => {
    await fill(20, minute)
    advance(minute + 2)
    for (let write = 0; write < 10; write += 1) await driver.insertItem(`inserted:${write}`, 'x', { ttl: minute })
    expect(held()).toBe(10)
  })

  // A quiet service: the sweep must keep up with the clock, not only with the writes.
  test('one write per minute for ten days leaves only items that have not expired', async () => {
    for (let write = 0; write < 10 * 24 * 60; write += 1) {
      await storage.setItem(`quiet:${write}`, 'x', { ttl: 5 * minute })
      advance(minute)
    }
    expect(held()).toBeLessThan(100)
  })

  test('the first writes after a quiet month drop what expired before it', async () => {
    await fill(10, minute)
    advance(30 * day)
    await driver.insertItem('short', 'x', { ttl: minute })
    advance(minute + 2)
    for (let write = 0; write < 100; write += 1) await storage.setItem('writer', 'x')
    expect([...(driver.getInstance?.().keys() ?? [])]).toEqual(['writer'])
  })
})

describe('insertItem of the memory driver', () => {
  test('lets one of 100 concurrent inserts create the item', async () => {
    const racers = Array.from({ length: 100 }, async (_, index) => {
      // Each starts after a different number of ticks, so that they interleave.
      for (let tick = 0; tick < index % 7; tick += 1) await undefined
      return { index, created: await driver.insertItem('spent:a', `racer ${index}`, { ttl: minute }) }
    })
    const winners = (await Promise.all(racers)).filter(({ created }) => created === true)
    expect(winners).toHaveLength(1)
    expect(await storage.getItem('spent:a')).toBe(`racer ${winners[0]?.index}`)
  })

  test('does not overwrite an item that was set', async () => {
    await storage.setItem('a', 'set')
    expect(await driver.insertItem('a', 'inserted', { ttl: minute })).toBe(false)
    expect(await storage.getItem('a')).toBe('set')
  })

  test('a rejected insert does not extend the ttl of the item', async () => {
    await driver.insertItem('a', 'first', { ttl: minute })
    await driver.insertItem('a', 'second', { ttl: 10 * minute })
    advance(minute)
    expect(await storage.getItem('a')).toBeNull()
  })

  test('an expired item can be inserted again, and then has its own ttl', async () => {
    expect(await driver.insertItem('a', 'first', { ttl: minute })).toBe(true)
    advance(minute - 1)
    expect(await driver.insertItem('a', 'early', { ttl: minute })).toBe(false)
    advance(1)
    expect(await driver.insertItem('a', 'second', { ttl: minute })).toBe(true)
    advance(minute - 1)
    for (let write = 0; write < 50; write += 1) await storage.setItem('writer', 'x')
    expect(await storage.getItem('a')).toBe('second')
  })

  test('a removed or cleared item can be inserted again', async () => {
    await driver.insertItem('a', 'first', { ttl: minute })
    await storage.removeItem('a')
    expect(await driver.insertItem('a', 'second', { ttl: minute })).toBe(true)
    await storage.clear()
    expect(await driver.insertItem('a', 'third', { ttl: minute })).toBe(true)
    expect(await storage.getItem('a')).toBe('third')
  })
})
