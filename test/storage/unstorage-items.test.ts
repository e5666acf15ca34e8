import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage, type Driver, type Storage } from 'unstorage'
import plainMemory from 'unstorage/drivers/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'

const minute = 60

const singleProcess = (storage: Storage = createStorage()): AtomicDriver =>
  unstorageDriver(storage, { singleProcess: true })

afterEach(() => {
  vi.useRealTimers()
})

describe('a stored value', () => {
  const values = ['123456', 'true', 'null', '1e5', '', 'undefined', 'NaN', '{"__proto__":{"x":1}}', '"quoted"', '\0€😀']

  test.each([
    ['in a single process', () => singleProcess()],
    ['with an atomic driver', () => unstorageDriver(createStorage({ driver: memoryDriver() }))],
  ])('comes back unchanged, %s', async (_, make) => {
    const driver = make()
    for (const value of values) {
      await driver.setItem('code:0', value, { ttl: minute })
      expect(await driver.getItem('code:0')).toBe(value)
      await driver.removeItem('code:0', {})
      await driver.insertItem('code:0', value, { ttl: minute })
      expect(await driver.getItem('code:0')).toBe(value)
    }
  })

  test('expires exactly on a driver that ignores the ttl, and can be inserted again', async () => {
    vi.useFakeTimers({ now: 1_800_000_000_000 })
    const driver = singleProcess()
    await driver.setItem('code:0', 'x', { ttl: minute })
    vi.advanceTimersByTime(minute * 1000 - 1)
    expect(await driver.getItem('code:0')).toBe('x')
    expect(await driver.insertItem('code:0', 'y', { ttl: minute })).toBe(false)
    vi.advanceTimersByTime(1)
    expect(await driver.getItem('code:0')).toBeNull()
    expect(await driver.insertItem('code:0', 'y', { ttl: 40 * 86_400 })).toBe(true)
    vi.advanceTimersByTime(40 * 86_400_000 - 1)
    expect(await driver.getItem('code:0')).toBe('y')
  })

  test('gets a ttl of whole seconds: on Redis, 0 would mean no expiry and 0.5 an error', async () => {
    const memory = plainMemory()
    const setItem = vi.fn()
    const driver = singleProcess(createStorage({ driver: { ...memory, setItem } }))
    for (const ttl of [0.2, 1, 1.5, 40 * 86_400]) await driver.setItem('code:0', 'x', { ttl })
    expect(setItem.mock.calls.map(([, , options]) => options.ttl)).toEqual([1, 1, 2, 40 * 86_400])
    for (const ttl of [0, -1, Number.NaN]) {
      await expect(driver.setItem('code:0', 'x', { ttl })).rejects.toThrow(RangeError)
      await expect(driver.insertItem('code:0', 'x', { ttl })).rejects.toThrow(RangeError)
    }
    expect(setItem).toHaveBeenCalledTimes(4)
  })

  test('of another program is returned for the core to judge', async () => {
    const storage = createStorage()
    const driver = singleProcess(storage)
    for (const foreign of ['torn {"value', { version: 2 }, 7]) {
      await storage.setItem('spent:0', foreign)
      expect(await driver.getItem('spent:0')).toEqual(foreign)
      expect(await driver.insertItem('spent:0', 'x', { ttl: minute })).toBe(false)
    }
  })

  test('causes a rejection when it is an Error returned by the storage', async () => {
    const broken: Driver = { ...plainMemory(), getItem: () => new Error('EIO') as never }
    const driver = singleProcess(createStorage({ driver: broken }))
    await expect(driver.getItem('code:0')).rejects.toThrow('EIO')
    await expect(driver.insertItem('code:0', 'x', { ttl: minute })).rejects.toThrow('EIO')
  })

  test('can be inserted after a failed write', async () => {
    const memory = plainMemory()
    let broken = true
    const setItem: Driver['setItem'] = (...args) => {
      if (broken) throw new Error('ENOSPC')
      return memory.setItem?.(...args)
    }
    const driver = singleProcess(createStorage({ driver: { ...memory, setItem } }))
    await expect(driver.insertItem('code:0', 'x', { ttl: minute })).rejects.toThrow('ENOSPC')
    broken = false
    expect(await driver.insertItem('code:0', 'x', { ttl: minute })).toBe(true)
  })
})

test.each([...['', 'a?b', 'a/b', 'a\\b', 'a::b', ':a', 'a:', 'a:..:b', '..', 'a$', 'A', 'é', 'a b', '\0', 'a.b']])(
  'rejects the key %j, which unstorage would fold with another one',
  async (hostile) => {
    const storage = createStorage()
    const driver = singleProcess(storage)
    const sentence = {
      name: 'TypeError',
      message: expect.stringMatching(/is not a plain key; unstorage would store it under a different key$/u),
    }
    await expect(driver.getItem(hostile)).rejects.toMatchObject(sentence)
    await expect(driver.setItem(hostile, 'x', { ttl: minute })).rejects.toMatchObject(sentence)
    await expect(driver.insertItem(hostile, 'x', { ttl: minute })).rejects.toMatchObject(sentence)
    await expect(driver.removeItem(hostile, {})).rejects.toMatchObject(sentence)
    expect(await storage.getKeys()).toEqual([])
  },
)

test('rejects a key equal to the name of a mount, which unstorage writes outside and reads inside', async () => {
  const driver = unstorageDriver(createStorage({ driver: memoryDriver() }).mount('code:0', memoryDriver()))
  await expect(driver.insertItem('code:0', 'x', { ttl: minute })).rejects.toThrow('is not a plain key')
})
