import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage, type Driver, prefixStorage, type Storage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import plainMemory from 'unstorage/drivers/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fixture, redirectUri, web } from '../support/fixture.ts'
import { pause } from '../support/pause.ts'

const minute = 60
const key = 'spent:code:0123456789abcdef'

const singleProcess = (storage: Storage = createStorage()): AtomicDriver =>
  unstorageDriver(storage, { singleProcess: true })

const refusal = (message: string | RegExp) => ({
  name: 'TypeError',
  message: typeof message === 'string' ? message : expect.stringMatching(message),
})

const thrownBy = (act: () => unknown): unknown => {
  try {
    act()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

afterEach(() => {
  vi.useRealTimers()
})

describe('a storage whose driver cannot insert atomically', () => {
  test('is rejected with the problem and the fix', () => {
    expect(thrownBy(() => unstorageDriver(createStorage()))).toMatchObject(
      refusal(
        'unstorageDriver(): memory at the root has no insertItem(), so two requests could redeem one code; mount a driver of @grantry/storage-drivers (and pass a prefix as { base }), or set { singleProcess: true } if no other process writes there',
      ),
    )
  })

  test('is accepted for a single process, where one of many inserts wins', async () => {
    const slow: Driver = {
      ...plainMemory(),
      // With a delay between read and write, only the lock helps.
      setItem: (...args) => pause(2).then(() => memory.setItem?.(...args)),
      getItem: (...args) => memory.getItem(...args),
    }
    const memory = plainMemory()
    const storage = createStorage({ driver: slow })
    // Two drivers on one storage, like two providers in one program.
    const drivers = [singleProcess(storage), singleProcess(storage)] as const
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, racer) =>
        drivers[racer % 2 ? 1 : 0].insertItem(key, `${racer}`, { ttl: minute }),
      ),
    )
    expect(responses.filter(Boolean)).toHaveLength(1)
    expect(await drivers[0].getItem(key)).toBe(String(responses.indexOf(true)))
  })

  test('is rejected at any mount that can hold a key: inside the base or around it', () => {
    const inside = createStorage({ driver: memoryDriver() })
      .mount('tokens', memoryDriver())
      .mount('tokens:spent', plainMemory())
    expect(thrownBy(() => unstorageDriver(inside, { base: 'tokens' }))).toMatchObject(
      refusal(/^unstorageDriver\(\): memory at "tokens:spent:" has no insertItem\(\)/u),
    )
    const around = createStorage().mount('tokens:spent', memoryDriver())
    expect(thrownBy(() => unstorageDriver(around, { base: 'tokens' }))).toMatchObject(refusal(/at the root/u))
    expect(thrownBy(() => unstorageDriver(around))).toMatchObject(refusal(/at the root/u))
  })

  test('is accepted at mounts that cannot hold a key', () => {
    const storage = createStorage()
      .mount('tokens', memoryDriver())
      .mount('tokens2', plainMemory())
      .mount('cache', plainMemory())
    expect(unstorageDriver(storage, { base: 'tokens' }).name).toBe('unstorage (memory)')
    expect(unstorageDriver(storage, { base: 'tokens:' }).name).toBe('unstorage (memory)')
  })

  test('is rejected even if it is mounted later', async () => {
    const storage = createStorage({ driver: memoryDriver() })
    const driver = unstorageDriver(storage)
    storage.mount('spent', plainMemory())
    await expect(driver.insertItem(key, 'x', { ttl: minute })).rejects.toMatchObject(refusal(/at "spent:" has no/u))
    expect(await driver.insertItem('code:0123', 'x', { ttl: minute })).toBe(true)
  })
})

describe('a storage with an atomic driver', () => {
  test('is written through the insertItem() of its mounts', async () => {
    const mounted = memoryDriver()
    const insertItem = vi.spyOn(mounted, 'insertItem')
    const storage = createStorage().mount('tokens', mounted)
    const driver = unstorageDriver(storage, { base: 'tokens' })
    expect(await driver.insertItem(key, '"one"', { ttl: minute })).toBe(true)
    expect(await driver.insertItem(key, '"two"', { ttl: minute })).toBe(false)
    expect(insertItem.mock.calls.map(([relative, , options]) => [relative, options])).toEqual([
      [key, { ttl: minute }],
      [key, { ttl: minute }],
    ])
    expect(await driver.getItem(key)).toBe('"one"')
    expect(await storage.getKeys()).toEqual([`tokens:${key}`])
    await driver.removeItem(key, {})
    expect(await storage.getKeys()).toEqual([])
  })

  test('uses insertItem() or the lock, depending on the mount', async () => {
    const atomic = memoryDriver()
    const insertItem = vi.spyOn(atomic, 'insertItem')
    const driver = singleProcess(createStorage().mount('spent', atomic))
    for (const name of [key, 'code:0123']) {
      expect(await driver.insertItem(name, '"one"', { ttl: minute })).toBe(true)
      expect(await driver.insertItem(name, '"two"', { ttl: minute })).toBe(false)
      expect(await driver.getItem(name)).toBe('"one"')
    }
    expect(insertItem).toHaveBeenCalledTimes(2)
  })

  test('loses no removal beside replaceItem() if the mounted driver cannot replace', async () => {
    const { replaceItem: _, ...mounted } = memoryDriver()
    async function getItem(name: string) {
      const value = mounted.getItem(name)
      await new Promise((resolve) => setImmediate(resolve))
      return value
    }
    const driver = singleProcess(createStorage({ driver: { ...mounted, getItem } as Driver }))
    await driver.insertItem(key, 'one', { ttl: minute })
    const replacing = driver.replaceItem(key, { from: 'one', to: 'two', ttl: minute })
    await Promise.all([replacing, driver.removeItem(key, {})])
    expect(await driver.getItem(key)).toBeNull()
  })

  test('expires items as the mounted driver does', async () => {
    vi.useFakeTimers({ now: 1_800_000_000_000 })
    const driver = unstorageDriver(createStorage({ driver: memoryDriver() }))
    expect(await driver.insertItem(key, 'x', { ttl: minute })).toBe(true)
    vi.advanceTimersByTime(minute * 1000 - 1)
    expect(await driver.getItem(key)).toBe('x')
    vi.advanceTimersByTime(1)
    expect(await driver.getItem(key)).toBeNull()
    // Absent and insertable in the same instant: with two separate expiries there would be a gap.
    expect(await driver.insertItem(key, 'y', { ttl: minute })).toBe(true)
  })

  // Two clocks always differ a little: an item must not look absent while it still blocks inserts.
  test('returns an item for as long as it blocks inserts', async () => {
    vi.useFakeTimers({ now: 1_800_000_000_000 })
    const late = memoryDriver()
    const insertItem: AtomicDriver['insertItem'] = (name, value, { ttl }) =>
      late.insertItem(name, value, { ttl: ttl + 1 })
    const driver = unstorageDriver(createStorage({ driver: { ...late, insertItem } as Driver }))
    await driver.insertItem(key, 'x', { ttl: minute })
    vi.advanceTimersByTime(minute * 1000 + 500)
    expect(await driver.insertItem(key, 'y', { ttl: minute })).toBe(false)
    expect(await driver.getItem(key)).toBe('x')
  })

  test('serves a provider', async () => {
    const f = await fixture({
      storage: unstorageDriver(createStorage().mount('tokens', memoryDriver()), { base: 'tokens' }),
    })
    const code = await f.code()
    const redeem = () => f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
    expect((await redeem()).status).toBe(200)
    expect((await redeem()).body.error).toBe('invalid_grant')
  })
})

// prefixStorage() renames keys in every operation except getMount(), so inserts and reads would use different keys.
describe('a storage with a prefix', () => {
  test.each<[string, () => AtomicDriver]>([
    [
      'over an atomic driver',
      () => unstorageDriver(prefixStorage(createStorage({ driver: memoryDriver() }), 'tokens')),
    ],
    [
      'over an atomic driver at another mount',
      () =>
        unstorageDriver(
          prefixStorage(createStorage({ driver: memoryDriver() }).mount('tokens', memoryDriver()), 'tokens'),
        ),
    ],
    ['in a single process', () => singleProcess(prefixStorage(createStorage(), 'tokens'))],
  ])('is rejected at start, %s', async (_, driver) => {
    const sentence =
      /^unstorageDriver\(\): a value written through the storage is not in memory at .*, the driver that its getMount\(\) returns; this happens with prefixStorage\(\): pass the storage itself, and the prefix as \{ base \}$/u
    await expect(driver().open?.()).rejects.toMatchObject(refusal(sentence))
    await expect(fixture({ storage: driver() })).rejects.toMatchObject(refusal(/cannot be used: .*\{ base \}$/u))
  })

  test('without an atomic driver, the error suggests the base option', () => {
    const storage = createStorage().mount('tokens', memoryDriver())
    expect(thrownBy(() => unstorageDriver(prefixStorage(storage, 'tokens') as Storage))).toMatchObject(
      refusal(/\(and pass a prefix as \{ base \}\)/u),
    )
  })

  test('is set with the base option, and the probe leaves nothing behind', async () => {
    const storage = createStorage({ driver: memoryDriver() })
    const driver = unstorageDriver(storage, { base: 'tokens' })
    await driver.open?.()
    expect(await storage.getKeys()).toEqual([])
    await driver.setItem(key, 'x', { ttl: minute })
    expect(await prefixStorage(storage, 'tokens').getKeys()).toEqual([key])
  })

  test.each(['a b', 'Tokens', 'a/b', '..', 'a::b', '?'])('rejects the base %j', (base) => {
    expect(thrownBy(() => unstorageDriver(createStorage({ driver: memoryDriver() }), { base }))).toMatchObject(
      refusal(/^unstorageDriver\(\): the base .* must be lower-case letters/u),
    )
  })
})

test('closing the provider leaves the storage open', async () => {
  const storage = createStorage()
  const dispose = vi.spyOn(storage, 'dispose')
  const f = await fixture({ storage: singleProcess(storage) })
  await storage.setItem('mine', 'kept')
  await f.provider.close()
  expect(dispose).not.toHaveBeenCalled()
  expect(await storage.getItem('mine')).toBe('kept')
})

test('the fs driver of unstorage works for a provider in a single process', async () => {
  const base = await mkdtemp(join(tmpdir(), 'grantry-unstorage-'))
  try {
    const f = await fixture({ storage: singleProcess(createStorage({ driver: fsDriver({ base }) })) })
    const code = await f.code()
    const redeem = () => f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
    const statuses = (await Promise.all(Array.from({ length: 20 }, redeem))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  } finally {
    await rm(base, { recursive: true })
  }
})
