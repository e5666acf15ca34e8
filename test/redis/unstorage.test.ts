// The driver inside unstorage, which does not call open().
import { createStorage, prefixStorage, type Storage } from 'unstorage'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { testItemsInUnstorage } from '../support/unstorage-tests.ts'

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

  testItemsInUnstorage(() => storage)

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
