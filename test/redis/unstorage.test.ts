// The driver inside unstorage, which does not call open().
import { createStorage, prefixStorage, type Storage } from 'unstorage'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

describeWithRedis('the Redis driver in unstorage', () => {
  let server: RedisServer
  let storage: Storage
  const driverOf = redisDrivers()
  beforeAll(async () => {
    server = await startRedis()
  })
  beforeEach(() => {
    storage = createStorage({ driver: driverOf({ url: server.url }) })
  })
  afterEach(() => server.command('FLUSHALL'))
  afterAll(() => server.stop())

  test('sets, gets, has and removes', async () => {
    expect([await storage.getItem('a:b'), await storage.hasItem('a:b')]).toEqual([null, false])
    await storage.setItem('a:b', { deep: ['value', 1, null] })
    expect([await storage.getItem('a:b'), await storage.hasItem('a/b')]).toEqual([{ deep: ['value', 1, null] }, true])
    await storage.removeItem('a:b')
    expect([await storage.getItem('a:b'), await storage.hasItem('a:b')]).toEqual([null, false])
  })

  test('sets and gets several items in one call', async () => {
    await storage.setItems([
      { key: 'a', value: 'one' },
      { key: 'a:b', value: 'two' },
    ])
    expect(await storage.getItems(['a', 'a:b', 'a:b:c'])).toEqual([
      { key: 'a', value: 'one' },
      { key: 'a:b', value: 'two' },
      { key: 'a:b:c', value: null },
    ])
  })

  test('stores raw bytes', async () => {
    const bytes = new Uint8Array([0, 255, 128, 10])
    await storage.setItemRaw('bytes', bytes)
    expect(new Uint8Array((await storage.getItemRaw<Uint8Array>('bytes')) ?? [])).toEqual(bytes)
  })

  test('expires an item after its ttl', async () => {
    await storage.setItem('short', 'value', { ttl: 0.05 })
    await storage.setItem('long', 'value', { ttl: 60 })
    await expect.poll(() => storage.getItem('short')).toBeNull()
    expect(await storage.getKeys()).toEqual(['long'])
  })

  test('lists and clears by base, also through a prefix and a mount', async () => {
    for (const key of ['a', 'a:b', 'a:b:c', 'ab']) await storage.setItem(key, key)
    expect((await storage.getKeys('a')).sort()).toEqual(['a:b', 'a:b:c'])
    expect((await storage.getKeys()).sort()).toEqual(['a', 'a:b', 'a:b:c', 'ab'])
    expect(await prefixStorage(storage, 'a').getItem('b')).toBe('a:b')
    storage.mount('cache', driverOf({ url: server.url, prefix: 'cache' }))
    await storage.setItem('cache:key', 'value')
    expect((await storage.getKeys()).sort()).toEqual(['a', 'a:b', 'a:b:c', 'ab', 'cache:key'])
    await storage.clear('cache')
    expect((await storage.getKeys()).sort()).toEqual(['a', 'a:b', 'a:b:c', 'ab'])
    await storage.unmount('cache')
    await storage.clear()
    expect(await storage.getKeys()).toEqual([])
  })

  test('stores metadata, and returns none for an absent item', async () => {
    await storage.setItem('key', 'value')
    await storage.setMeta('key', { owner: 'alice' })
    expect(await storage.getMeta('key')).toEqual({ owner: 'alice' })
    expect(await storage.getMeta('absent')).toEqual({})
    expect(await storage.getKeys()).toEqual(['key'])
  })

  test('rejects when the server is unsuitable', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu')
    await expect(storage.getItem('key')).rejects.toThrow('set maxmemory-policy noeviction')
    await expect(storage.setItem('key', 'value')).rejects.toThrow('set maxmemory-policy noeviction')
    await expect(storage.getKeys()).rejects.toThrow('set maxmemory-policy noeviction')
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    expect(await storage.getItem('key')).toBeNull()
  })
})
