// Reads of several items: one command for all that are requested in a turn, by getItem() and getItems().
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

describeWithRedis('several items in Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterEach(() => server.command('FLUSHALL'))
  afterAll(() => server.stop())
  const driverOf = redisDrivers()
  const wanted = (...keys: string[]) => keys.map((key) => ({ key }))

  /** Returns the number of calls of each command since the last call. */
  async function commandCalls(): Promise<Readonly<Record<string, number>>> {
    const info = String(await server.command('INFO', 'commandstats'))
    await server.command('CONFIG', 'RESETSTAT')
    return Object.fromEntries(
      [...info.matchAll(/^cmdstat_(\w+):calls=(\d+)/gmu)].map(([, name, calls]) => [name, Number(calls)]),
    )
  }

  test('are returned with their keys, and null for an absent one', async () => {
    const driver = driverOf({ url: server.url })
    await driver.setItem('code:1', 'one', { ttl: 60 })
    await driver.insertItem('spent:code:1', 'two', { ttl: 60 })
    expect(await driver.getItems(wanted('spent:code:1', 'absent', 'code:1'))).toEqual([
      { key: 'spent:code:1', value: 'two' },
      { key: 'absent', value: null },
      { key: 'code:1', value: 'one' },
    ])
    expect(await driver.getItems([])).toEqual([])
  })

  test('take one command together with the other reads of the turn', async () => {
    const driver = driverOf({ url: server.url })
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => driver.setItem(key, `of ${key}`, { ttl: 60 })))
    await commandCalls()
    const values = ({ value }: { readonly value: string | null }) => value
    const [first, second, third] = await Promise.all([
      driver.getItems(wanted('a', 'b')),
      driver.getItem('c'),
      driver.getItems(wanted('d', 'a')),
    ])
    expect([first.map(values), second, third.map(values)]).toEqual([['of a', 'of b'], 'of c', ['of d', 'of a']])
    expect(await commandCalls()).toMatchObject({ eval: 1, get: 5 })
  })

  test('reject if one is not a string, which fails no other read of the turn', async () => {
    const driver = driverOf({ url: server.url })
    await driver.setItem('a', 'of a', { ttl: 60 })
    await server.command('RPUSH', 'grantry:spent:code:1', 'x')
    const [damaged, whole, single] = await Promise.allSettled([
      driver.getItems(wanted('a', 'spent:code:1')),
      driver.getItems(wanted('a', 'b')),
      driver.getItem('a'),
    ])
    expect(damaged).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } })
    expect(whole).toMatchObject({ status: 'fulfilled', value: [{ value: 'of a' }, { value: null }] })
    expect(single).toMatchObject({ status: 'fulfilled', value: 'of a' })
  })

  test('are read with commands of limited size', async () => {
    const driver = driverOf({ url: server.url })
    const keys = Array.from({ length: 1200 }, (_, index) => `key:${index}`)
    await Promise.all(keys.map((key) => driver.setItem(key, `of ${key}`, { ttl: 60 })))
    await commandCalls()
    expect(await driver.getItems(wanted(...keys))).toEqual(keys.map((key) => ({ key, value: `of ${key}` })))
    expect(await commandCalls()).toMatchObject({ eval: 3, get: 1200 })
  })

  // The first command fails and its keys are read again, after those of the second command.
  test('keep their values if the commands end in another order', async () => {
    const driver = driverOf({ url: server.url })
    const keys = Array.from({ length: 600 }, (_, index) => `key:${index}`)
    await Promise.all(keys.map((key) => driver.setItem(key, `of ${key}`, { ttl: 60 })))
    await server.command('RPUSH', 'grantry:damaged', 'x')
    const damaged = driver.getItem('damaged').catch(({ message }) => message)
    expect(await driver.getItems(wanted(...keys))).toEqual(keys.map((key) => ({ key, value: `of ${key}` })))
    expect(await damaged).toContain('WRONGTYPE')
  })

  test('reject after an unexpected reply', async () => {
    const client = new Redis(server.url, { autoResendUnfulfilledCommands: false })
    client.call = () => Promise.resolve(['x', 7]) as never
    const driver = driverOf({ client })
    await expect(driver.getItems(wanted('a', 'b'))).rejects.toThrow('Redis returned an unexpected reply to GET')
    client.call = () => Promise.resolve(['x']) as never
    await expect(driver.getItems(wanted('a', 'b'))).rejects.toThrow('Redis returned an unexpected reply to GET')
    client.disconnect()
  })
})
