// What the conformance kit cannot check of a counter in Redis: its expiry.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startProxy } from '../support/redis-proxy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

describeWithRedis('a counter in Redis', () => {
  const driverOf = redisDrivers()
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())

  test('has an expiry from its creation, which later increments do not change', async () => {
    const driver = driverOf({ url: server.url, prefix: 'end' })
    await driver.incrementItem('count:a', { ttl: 30 })
    await driver.incrementItem('count:a', { ttl: 3600 })
    const left = Number(await server.command('PTTL', 'end:count:a'))
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(30_000)
  })

  test('has an expiry even if the connection breaks during its creation', async () => {
    const proxy = await startProxy(server)
    onTestFinished(() => proxy.stop())
    const driver = driverOf({ url: proxy.url, prefix: 'cut' })
    await driver.open()
    const counting = Array.from({ length: 200 }, (_, index) => driver.incrementItem(`count:${index}`, { ttl: 3600 }))
    // By then, some have reached the server and some have not.
    await Promise.race(counting)
    proxy.cut()
    await Promise.allSettled(counting)
    const keys = (await server.command('KEYS', 'cut:*')) as string[]
    expect(keys.length).toBeGreaterThan(0)
    const ends = await Promise.all(keys.map((key) => server.command('PTTL', key)))
    expect(ends.filter((end) => Number(end) <= 0)).toEqual([])
  })

  test('is rejected with a ttl of 0 or less, too large, or without an expiry', async () => {
    const driver = driverOf({ url: server.url })
    for (const ttl of [0, -1, 1e20, Number.POSITIVE_INFINITY]) {
      await expect(driver.incrementItem('count:a', { ttl })).rejects.toThrow(/^The ttl of a counter is /u)
    }
  })

  test('takes one command together with the other counters and the reads of the turn', async () => {
    const driver = driverOf({ url: server.url, prefix: 'turn' })
    await driver.setItem('a', 'of a', { ttl: 60 })
    await server.command('CONFIG', 'RESETSTAT')
    const results = await Promise.all([
      driver.getItem('a'),
      driver.incrementItem('count:a', { ttl: 60 }),
      driver.getItems([{ key: 'absent' }, { key: 'a' }]),
      driver.incrementItem('count:b', { ttl: 60 }),
      driver.incrementItem('count:a', { ttl: 60 }),
    ])
    const items = [
      { key: 'absent', value: null },
      { key: 'a', value: 'of a' },
    ]
    expect(results).toEqual(['of a', 1, items, 1, 2])
    expect(await server.command('INFO', 'commandstats')).toMatch(/cmdstat_eval:calls=1,/u)
    for (const key of ['a', 'b']) expect(await server.command('PTTL', `turn:count:${key}`)).toBeGreaterThan(0)
  })

  test('of another type fails alone', async () => {
    const driver = driverOf({ url: server.url, prefix: 'type' })
    await server.command('RPUSH', 'type:count:a', 'x')
    const [damaged, whole, item] = await Promise.allSettled([
      driver.incrementItem('count:a', { ttl: 60 }),
      driver.incrementItem('count:b', { ttl: 60 }),
      driver.getItem('absent'),
    ])
    expect(damaged).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } })
    expect([whole, item]).toMatchObject([{ value: 1 }, { value: null }])
  })

  test('is refused by a server that has become a replica, which then gets a new connection', async () => {
    const demoted = await startRedis()
    onTestFinished(() => demoted.stop())
    const driver = driverOf({ url: demoted.url, prefix: 'replica' })
    await driver.open()
    await demoted.command('REPLICAOF', '127.0.0.1', '1')
    const all = await Promise.allSettled([driver.incrementItem('count:a', { ttl: 60 }), driver.getItem('a')])
    for (const outcome of all)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('READONLY') } })
    await demoted.command('REPLICAOF', 'NO', 'ONE')
    await expect.poll(() => driver.incrementItem('count:a', { ttl: 60 }).catch(() => 'refused')).toBe(1)
  })
})
