// copyItems() on the driver in memory: what it copies, removes, refuses and verifies.

import { copyItems, type ListableDriver } from '@grantry/storage-drivers/copy'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const hour = { ttl: 3600 }
const keysOf = (driver: { getKeys(): string[] }): string[] => driver.getKeys().sort()
/** Copies without the types of the optional members of a driver in memory. */
const copy = (from: ListableDriver, to: ListableDriver, options: { final?: boolean; dryRun?: boolean } = {}) =>
  copyItems({ from, to, ...options })

function filled(count: number) {
  const driver = memoryDriver()
  for (let index = 0; index < count; index += 1) driver.setItem(`access:${index}`, `value ${index}`, hour)
  return driver
}

// Otherwise an item could end before a busy machine has copied it.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('a copy', () => {
  test('has all items, also over several batches, and continues counters', async () => {
    const [from, to] = [filled(1234), memoryDriver()]
    from.incrementItem('failure:1', hour)
    expect(await copy(from, to, { final: true })).toEqual({ read: 1235, written: 1235, removed: 0 })
    expect(keysOf(to)).toEqual(keysOf(from))
    expect(to.getItem('access:1233')).toBe('value 1233')
    expect(to.incrementItem('failure:1', hour)).toBe(2)
  })

  test('writes only what differs when it is repeated, and removes what the source no longer has', async () => {
    const [from, to] = [filled(700), memoryDriver()]
    await copy(from, to)
    from.setItem('access:1', 'rotated', hour)
    from.removeItem('access:2')
    from.setItem('spent:3', '{}', hour)
    expect(await copy(from, to, { final: true })).toEqual({ read: 700, written: 2, removed: 1 })
    expect([to.getItem('access:1'), to.getItem('access:2'), to.getItem('spent:3')]).toEqual(['rotated', null, '{}'])
    expect(keysOf(to)).toEqual(keysOf(from))
  })

  test('continues after a failure', async () => {
    const [from, to] = [filled(1200), memoryDriver()]
    let writes = 0
    const failing: ListableDriver = {
      ...to,
      commit(changes) {
        writes += 1
        if (writes === 4) throw new Error('the connection was lost')
        return to.commit(changes)
      },
    }
    await expect(copy(from, failing)).rejects.toThrow('the connection was lost')
    expect(await copy(from, to, { final: true })).toEqual({ read: 1200, written: 900, removed: 0 })
    expect(keysOf(to)).toEqual(keysOf(from))
  })

  test('keeps the end of an item', async () => {
    const [from, to] = [memoryDriver(), memoryDriver()]
    from.setItem('code:1', 'value', { ttl: 60 })
    await copy(from, to)
    const ends: number[] = []
    for await (const batch of to.listItems())
      ends.push(...batch.flatMap(({ key, endsAt }) => (key === 'code:1' ? [endsAt] : [])))
    expect(ends).toEqual([Date.now() + 60_000])
  })

  test('has the end of a counter that began again, and items that end soon', async () => {
    const [from, to] = [memoryDriver(), memoryDriver()]
    from.setItem('failure:1', '1', { ttl: 20 })
    await copy(from, to)
    from.setItem('failure:1', '1', { ttl: 600 })
    from.setItem('spent:1', '{}', { ttl: 4 })
    await copy(from, to, { final: true })
    const ends = new Map<string, number>()
    for await (const batch of to.listItems()) for (const { key, endsAt } of batch) ends.set(key, endsAt - Date.now())
    expect([...ends.keys()].sort()).toEqual(['failure:1', 'spent:1'])
    expect(ends.get('failure:1')).toBe(600_000)
  })

  test('writes nothing in a dry run', async () => {
    const [from, to] = [filled(3), memoryDriver()]
    to.setItem('access:1', 'other', hour)
    to.setItem('access:9', 'unknown', hour)
    expect(await copy(from, to, { dryRun: true })).toEqual({ read: 3, written: 3, removed: 1 })
    expect([keysOf(to), to.getItem('access:1')]).toEqual([['access:1', 'access:9'], 'other'])
  })

  test('reports the progress of each step', async () => {
    const seen: unknown[] = []
    await copyItems({
      from: filled(600),
      to: memoryDriver(),
      final: true,
      onProgress: ({ read }, step) => seen.push([step, read]),
    })
    expect(seen).toEqual(
      expect.arrayContaining([
        ['copy', 500],
        ['copy', 600],
        ['verify', 600],
      ]),
    )
  })
})

describe('a copy is refused', () => {
  test('into a storage with other items, which stay', async () => {
    const to = filled(1)
    await expect(copy(filled(3), to)).rejects.toThrow('use an empty one')
    expect(keysOf(to)).toEqual(['access:0'])
  })

  test('after a final copy, because a service may use the target', async () => {
    const [from, to] = [filled(3), memoryDriver()]
    await copy(from, to, { final: true })
    to.setItem('spent:1', '{}', hour)
    await expect(copy(from, to)).rejects.toThrow('use an empty one')
    expect(to.getItem('spent:1')).toBe('{}')
  })

  test('from the target of a copy that is not complete', async () => {
    const [first, second] = [filled(1), memoryDriver()]
    await copy(first, second)
    await expect(copy(second, memoryDriver())).rejects.toThrow(
      'the source is the target of a copy that is not complete',
    )
  })

  test('into a storage inside the source, such as another prefix of Redis', async () => {
    const from = filled(30)
    const inside: ListableDriver = {
      ...from,
      getItem: (key) => from.getItem(`next:${key}`),
      setItem: (key, value, options) => from.setItem(`next:${key}`, value, options),
      removeItem: (key) => from.removeItem(`next:${key}`),
      async *listItems() {
        for await (const batch of from.listItems())
          yield batch.flatMap((item) => (item.key.startsWith('next:') ? [{ ...item, key: item.key.slice(5) }] : []))
      },
    }
    await expect(copy(from, inside)).rejects.toThrow('the target storage is inside the source')
    expect(from.getKeys()).toHaveLength(30)
  })

  test('into the source', async () => {
    const from = filled(1)
    await expect(copy(from, from)).rejects.toThrow('the source and the target are the same storage')
    expect(keysOf(from)).toEqual(['access:0'])
  })

  test('as final while the source changes', async () => {
    const [from, to] = [filled(3), memoryDriver()]
    const changing: ListableDriver = {
      ...from,
      async *listItems() {
        yield* from.listItems()
        // A service writes after each listing.
        from.setItem(`spent:${from.getKeys().length}`, '{}', hour)
      },
    }
    await expect(copy(changing, to, { final: true })).rejects.toThrow(
      '1 items of the source changed during the copy; stop every process of the service',
    )
    expect(await copy(from, to, { final: true })).toMatchObject({ written: 2 })
    expect(keysOf(to)).toEqual(keysOf(from))
  })
})
