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
    const driver = driverOf({ url: proxy.url, prefix: 'cut', operationTimeout: 1 })
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

  test('is rejected with a ttl of 0 or less, or without an expiry', async () => {
    const driver = driverOf({ url: server.url })
    for (const ttl of [0, -1, Number.POSITIVE_INFINITY]) {
      await expect(driver.incrementItem('count:a', { ttl })).rejects.toThrow(/^The ttl of a counter is /u)
    }
  })
})
