// commit() on a single server is one script: all changes or none, also when Redis rejects writes or loses its replica.
import type { DriverChanges } from '@grantry/core'
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { describe, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { redisServers } from '../support/redis-servers.ts'

const item = (key: string, value = 'new', ttl = 60) => ({ key, value, ttl })

/** Creates two markers, writes a new and an existing item, and removes one. */
const changes: DriverChanges = {
  create: [item('spent:1'), item('spent:2', 'new', 90.5)],
  put: [item('access:1'), item('refresh:1')],
  remove: ['refresh:0', 'absent'],
}
const before = { 'refresh:1': 'old', 'refresh:0': 'old' }
const after = { 'spent:1': 'new', 'spent:2': 'new', 'access:1': 'new', 'refresh:1': 'new' }

/** Calls `commit()`, which is optional in the type. */
async function commit(driver: RedisDriver, toCommit: DriverChanges = changes): Promise<true | readonly string[]> {
  if (driver.commit === undefined) throw new TypeError('the driver has no commit()')
  return driver.commit(toCommit)
}

async function itemsIn(driver: RedisDriver): Promise<Readonly<Record<string, unknown>>> {
  const keys = (await driver.getKeys()).filter((key) => !key.startsWith('fence'))
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await driver.getItem(key)])))
}

describeWithRedis('a commit in Redis', () => {
  const servers = redisServers()
  const driverOf = redisDrivers({ concurrent: true })

  async function prepared(server: RedisServer, more: { waitReplicas?: number } = {}): Promise<RedisDriver> {
    const driver = driverOf({ url: server.url, prefix: 'app', operationTimeout: 4, ...more })
    await driver.open()
    for (const [key, value] of Object.entries(before)) await driver.setItem(key, value, { ttl: 60 })
    return driver
  }

  describe.concurrent('on one server', () => {
    test('writes, replaces and removes all items, with their own expiry', async ({ expect }) => {
      const server = await servers.start()
      const driver = await prepared(server)
      const timeOf = async (script: string, key = ''): Promise<number> =>
        Number(await server.command('EVAL', `local t = redis.call('TIME') ${script}`, 1, `app:${key}`))
      const now = 't[1] * 1000 + math.floor(t[2] / 1000)'
      const begun = await timeOf(`return ${now}`)
      expect(await commit(driver)).toBe(true)
      const ended = await timeOf(`return ${now}`)
      expect(await itemsIn(driver)).toEqual(after)
      for (const [key, milliseconds] of [
        ['spent:1', 60_000],
        ['spent:2', 90_500],
        ['access:1', 60_000],
      ] as const) {
        const end = await timeOf(`return ${now} + redis.call('PTTL', KEYS[1])`, key)
        // Redis counts in milliseconds.
        expect(end, key).toBeGreaterThanOrEqual(begun + milliseconds - 1)
        expect(end, key).toBeLessThanOrEqual(ended + milliseconds + 1)
      }
    })

    test('writes nothing if an item exists, and returns the keys without the prefix', async ({ expect }) => {
      const driver = await prepared(await servers.start())
      expect(await driver.insertItem('spent:2', 'first', { ttl: 60 })).toBe(true)
      expect(await commit(driver)).toEqual(['spent:2'])
      expect(await itemsIn(driver)).toEqual({ ...before, 'spent:2': 'first' })
      expect(await driver.insertItem('spent:1', 'first', { ttl: 60 })).toBe(true)
      expect(await commit(driver)).toEqual(['spent:1', 'spent:2'])
      expect(await itemsIn(driver)).toEqual({ ...before, 'spent:1': 'first', 'spent:2': 'first' })
    })

    test('keeps keys apart that Redis treats specially', async ({ expect }) => {
      const driver = await prepared(await servers.start())
      const keys = ['spent:{a}', 'spent:%007b', 'spent:*', 'spent:ä\0']
      expect(await commit(driver, { create: keys.map((key) => item(key, key)), put: [], remove: [] })).toBe(true)
      for (const key of keys) expect(await driver.getItem(key)).toBe(key)
      expect(await commit(driver, { create: [item('spent:b'), item('spent:{a}')], put: [], remove: keys })).toEqual([
        'spent:{a}',
      ])
      expect(await commit(driver, { create: [], put: [], remove: keys })).toBe(true)
      expect(await itemsIn(driver)).toEqual(before)
    })

    test.each([
      [0, 'more than 0'],
      [-1, 'more than 0'],
      [Number.NaN, 'more than 0'],
      [Number.POSITIVE_INFINITY, 'less'],
      // An error in the middle of a script does not undo the writes before it.
      [1e17, 'less'],
    ])('rejects a ttl of %s, and writes nothing', async (ttl, needed) => {
      const driver = await prepared(await servers.start())
      for (const wrong of [
        { ...changes, create: [item('spent:1'), item('spent:2', 'x', ttl)] },
        { ...changes, put: [item('access:1', 'x', ttl)] },
      ]) {
        await expect(commit(driver, wrong)).rejects.toThrow(
          new RangeError(`The ttl of a committed item is ${ttl} s; give ${needed}`),
        )
      }
      expect(await itemsIn(driver)).toEqual(before)
      expect(await commit(driver, { create: [], put: [], remove: [] })).toBe(true)
    })

    test('writes nothing when the server is full', async ({ expect }) => {
      const server = await servers.start()
      const driver = await prepared(server)
      await server.command('CONFIG', 'SET', 'maxmemory', '1')
      await expect(commit(driver)).rejects.toThrow('returned an error: OOM')
      expect(await itemsIn(driver)).toEqual(before)
      await server.command('CONFIG', 'SET', 'maxmemory', '0')
      expect(await commit(driver)).toBe(true)
    })

    test('writes nothing when the server has become a replica', async ({ expect }) => {
      const server = await servers.start()
      const driver = await prepared(server)
      await server.command('REPLICAOF', '127.0.0.1', '1')
      await expect(commit(driver)).rejects.toThrow('returned an error: READONLY')
      await server.command('REPLICAOF', 'NO', 'ONE')
      await expect.poll(() => commit(driver).catch(() => undefined)).toBe(true)
      expect(await itemsIn(driver)).toEqual(after)
    })
  })

  describe.concurrent('with waitReplicas', () => {
    async function replicated() {
      const primary = await servers.start()
      const replica = await servers.replicaOf(primary)
      return { primary, replica, driver: await prepared(primary, { waitReplicas: 1 }) }
    }
    const unconfirmed = 'confirmed a write on only 0 of 1 replicas'

    test('resolves once the replica has every item', async ({ expect }) => {
      const { replica, driver } = await replicated()
      expect(await commit(driver)).toBe(true)
      for (const [key, value] of Object.entries(after)) expect(await replica.command('GET', `app:${key}`)).toBe(value)
      expect(await replica.command('EXISTS', 'app:refresh:0')).toBe(0)
    })

    // A code has no retry. If the replica is away for a minute, the codes of that minute must not be spent in vain.
    test('rejects and writes nothing while the replica does not confirm', async ({ expect }) => {
      const { replica, driver } = await replicated()
      replica.pause()
      try {
        for (let attempt = 0; attempt < 2; attempt += 1) await expect(commit(driver)).rejects.toThrow(unconfirmed)
        expect(await itemsIn(driver)).toEqual(before)
      } finally {
        replica.resume()
      }
      await expect.poll(() => commit(driver).catch(() => undefined)).toBe(true)
      expect(await itemsIn(driver)).toEqual(after)
    })

    test('does not return a key before its item is on the replica', async ({ expect }) => {
      const { primary, replica, driver } = await replicated()
      replica.pause()
      try {
        // The winner is another process, whose commit is not confirmed either.
        await primary.command('SET', 'app:spent:1', 'winner', 'PX', 60_000)
        await expect(commit(driver)).rejects.toThrow(unconfirmed)
      } finally {
        replica.resume()
      }
      await expect.poll(() => commit(driver).catch(() => undefined)).toEqual(['spent:1'])
      expect(await replica.command('GET', 'app:spent:1')).toBe('winner')
    })

    test('does not return a key if the server is too full to confirm it', async ({ expect }) => {
      const { primary, driver } = await replicated()
      expect(await commit(driver)).toBe(true)
      await driver.removeItem('spent:2')
      await primary.command('CONFIG', 'SET', 'maxmemory', '1')
      await expect(commit(driver)).rejects.toThrow('returned an error: OOM')
      await primary.command('CONFIG', 'SET', 'maxmemory', '0')
      expect(await commit(driver)).toEqual(['spent:1'])
    })
  })

  test('is not offered by a cluster, whose items are on several servers', () => {
    const driver = driverOf({ cluster: ['redis://127.0.0.1:1'] })
    expect('commit' in driver).toBe(false)
  })
})
