// What the conformance kit cannot check of a counter: its files on disk and its expiry in Redis.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startProxy } from '../support/redis-proxy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-counters-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  )

describe('a counter on disk', () => {
  test('is one file after any number of increments, and none after it has expired and was swept', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
    onTestFinished(() => void vi.useRealTimers())
    const directory = newDirectory()
    const driver = filesystemDriver({ directory })
    for (let count = 1; count <= 300; count += 1) expect(await driver.incrementItem('count:a', { ttl: 60 })).toBe(count)
    expect(filesIn(join(directory, 'items'))).toHaveLength(1)
    expect(filesIn(join(directory, 'tmp'))).toEqual([])
    vi.setSystemTime(1_800_000_060_000)
    await driver.purge()
    expect(filesIn(join(directory, 'items'))).toEqual([])
    expect(await driver.incrementItem('count:a', { ttl: 60 })).toBe(1)
    await driver.dispose()
  })

  test('restarts and counts no call twice when its file is removed during an increment', async () => {
    const driver = filesystemDriver({ directory: newDirectory() })
    const counts = await Promise.all([
      driver.incrementItem('count:a', { ttl: 60 }),
      driver.removeItem('count:a'),
      driver.incrementItem('count:a', { ttl: 60 }),
    ])
    expect([1, 2]).toContain(counts[2])
    await driver.dispose()
  })
})

test.each([
  ['memory', () => memoryDriver()],
  ['filesystem', () => filesystemDriver({ directory: newDirectory() })],
])('%s rejects a counter with a ttl of 0 or less', async (_, open) => {
  const driver = open()
  for (const ttl of [0, -1, Number.NaN]) {
    await expect(async () => driver.incrementItem('count:a', { ttl })).rejects.toThrow(/^The ttl of a counter is /u)
  }
  await driver.dispose()
})

test('memory does not increment an item that is not a counter', () => {
  const driver = memoryDriver()
  driver.setItem('a', '{"version":1}', { ttl: 60 })
  expect(() => driver.incrementItem('a', { ttl: 60 })).toThrow('The stored item of this key is not a counter')
})

test('unstorage has a counter if every mount has one, or with singleProcess', () => {
  const { incrementItem: _, ...silent } = memoryDriver()
  const counting = createStorage({ driver: memoryDriver() })
  const mixed = createStorage({ driver: memoryDriver() }).mount('tokens', silent)
  expect(unstorageDriver(counting).incrementItem).toBeTypeOf('function')
  expect(unstorageDriver(mixed).incrementItem).toBeUndefined()
  expect(unstorageDriver(mixed, { singleProcess: true }).incrementItem).toBeTypeOf('function')
})

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
