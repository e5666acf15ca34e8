// Items in Redis: expiry, names, and unexpected values.
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const day = 86_400

describeWithRedis('an item in Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterEach(() => server.command('FLUSHALL'))
  afterAll(() => server.stop())
  const driverOf = redisDrivers()
  const open = (prefix?: string) => driverOf({ url: server.url, ...(prefix !== undefined && { prefix }) })
  /** Returns the remaining milliseconds of an item; -1 without expiry, -2 when absent. */
  const lifeOf = async (itemKey: string): Promise<number> => Number(await server.command('PTTL', itemKey))

  /**
   * Returns the rejection. The error must not contain the value, which holds names and claims, since it may be logged.
   */
  async function refusal(writing: Promise<unknown>): Promise<Error> {
    const error = await writing.then(
      () => expect.fail('it was taken'),
      (thrown: unknown) => thrown,
    )
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('the-value')
    return error as Error
  }

  test('is set, read, checked and removed', async () => {
    const driver = open()
    expect([await driver.getItem('code:1'), await driver.hasItem('code:1')]).toEqual([null, false])
    await driver.setItem('code:1', 'one', { ttl: 60 })
    await driver.setItem('code:1', 'two', { ttl: 60 })
    expect([await driver.getItem('code:1'), await driver.hasItem('code:1')]).toEqual(['two', true])
    await driver.removeItem('code:1')
    await driver.removeItem('code:1')
    expect([await driver.getItem('code:1'), await driver.hasItem('code:1')]).toEqual([null, false])
  })

  test('is inserted once, and a second insert changes neither its value nor its expiry', async () => {
    const driver = open()
    expect(await driver.insertItem('spent:1', 'first', { ttl: 60 })).toBe(true)
    expect(await driver.insertItem('spent:1', 'second', { ttl: 6000 })).toBe(false)
    expect(await driver.getItem('spent:1')).toBe('first')
    expect(await lifeOf('grantry:spent:1')).toBeLessThanOrEqual(60_000)
  })

  // Redis takes whole milliseconds, rejects PX 0, and keeps items without expiry indefinitely.
  test.each([
    [60, 60_000],
    [1, 1000],
    [1.5, 1500],
    [0.0001, 1],
    [40 * day, 40 * day * 1000],
    [400 * day, 400 * day * 1000],
  ])('lives for %f s exactly, set or inserted', async (ttl, milliseconds) => {
    const driver = open()
    // The arguments as sent, since PTTL already counts down.
    const sent: string[] = []
    const endMonitor = await monitorRedis(server, ([name, , , ...parameters]) => {
      if (name === 'set') sent.push(parameters.join(' ').toUpperCase())
    })
    await driver.setItem('set', 'x', { ttl })
    await driver.insertItem('inserted', 'x', { ttl })
    await expect.poll(() => sent).toEqual([`PX ${milliseconds}`, `NX PX ${milliseconds}`])
    endMonitor()
    if (ttl < day) return
    for (const key of ['set', 'inserted']) {
      const life = await lifeOf(`grantry:${key}`)
      expect(life).toBeLessThanOrEqual(milliseconds)
      expect(life).toBeGreaterThan(milliseconds - day * 1000)
    }
  })

  test.each([0, -1, -40 * day])('is removed when it is set with a ttl of %i s', async (ttl) => {
    const driver = open()
    await driver.setItem('key', 'earlier')
    await driver.setItem('key', 'over', { ttl })
    expect(await driver.getItem('key')).toBeNull()
    await expect(driver.insertItem('key', 'over', { ttl })).rejects.toThrow('give more than 0')
    expect(await driver.getItem('key')).toBeNull()
  })

  test('is rejected with a ttl that is not a number', async () => {
    const driver = open()
    await expect(driver.setItem('key', 'x', { ttl: Number.NaN })).rejects.toThrow('not a number')
    await expect(driver.insertItem('key', 'x', { ttl: Number.NaN })).rejects.toThrow('not a number')
    expect(await driver.getKeys()).toEqual([])
  })

  test('without a ttl never expires, even if it replaces one with a ttl', async () => {
    const driver = open()
    await driver.setItem('key', 'x', { ttl: 60 })
    await driver.setItem('key', 'y')
    await driver.setItem('endless', 'x', { ttl: Number.POSITIVE_INFINITY })
    expect([await lifeOf('grantry:key'), await lifeOf('grantry:endless')]).toEqual([-1, -1])
  })

  test('has a name of its own for any key', async () => {
    const driver = open()
    const hostile = ['a b', 'a?', 'a?q=1', 'a$', 'é', 'e\u0301', '🔑', 'a{b}', 'a{', 'a}', 'a%', 'a%007b', 'a*', 'a[b]']
    const keys = [...hostile, 'a\\', 'a\\*', 'a\0', 'a\r\n', ' ', '', ':', 'a:', 'A', 'a', '\ud800', '\ud801', '\udc00']
    for (const [index, key] of keys.entries()) expect(await driver.insertItem(key, `${index}`, { ttl: 60 })).toBe(true)
    for (const [index, key] of keys.entries()) expect(await driver.getItem(key)).toBe(`${index}`)
    expect((await driver.getKeys()).sort()).toEqual([...keys].sort())
    for (const [index, key] of keys.entries()) {
      await driver.removeItem(key)
      expect(await driver.hasItem(key)).toBe(false)
      expect(await driver.getKeys()).toHaveLength(keys.length - index - 1)
    }
  })

  test('is listed and cleared by the literal prefix of its key', async () => {
    const keys = ['a*', 'a*b', 'ab', 'a?', 'a?b', 'a[bc]', 'a[bc]d', 'abd', 'a\\', 'a\\b', 'a{b}', 'a{b}c', 'é1', 'b']
    for (const base of ['', 'a', 'a*', 'a?', 'a[bc]', 'a\\', 'a{b}', 'a{', 'é', 'b', 'c', '*', '[^x]', '\\*']) {
      const driver = open()
      for (const key of keys) await driver.setItem(key, 'x', { ttl: 60 })
      const [within, without] = [
        keys.filter((key) => key.startsWith(base)),
        keys.filter((key) => !key.startsWith(base)),
      ]
      expect((await driver.getKeys(base)).sort(), base).toEqual(within.sort())
      await driver.clear(base)
      expect((await driver.getKeys()).sort(), base).toEqual(without.sort())
    }
  })

  test('is listed once, and cleared, among thousands', async () => {
    const driver = open()
    const keys = Array.from({ length: 5000 }, (_, index) => `key:${index}`)
    await Promise.all(keys.map((key) => driver.setItem(key, 'x', { ttl: 60 })))
    expect((await driver.getKeys()).sort()).toEqual([...keys].sort())
    await driver.clear()
    expect(await server.command('DBSIZE')).toBe(0)
  })

  test.each([
    ['one', 'two'],
    ['a', 'ab'],
    ['a*', 'ab'],
    ['a[b]', 'ab'],
    ['a?', 'ab'],
    ['{a}', '{a}b'],
    ['a\\*', 'a*'],
  ])('with the prefix %s is not seen with the prefix %s', async (first, second) => {
    const [firstDriver, secondDriver] = [open(first), open(second)]
    await firstDriver.setItem('key', 'of one', { ttl: 60 })
    expect([await secondDriver.getItem('key'), await secondDriver.getKeys()]).toEqual([null, []])
    expect(await secondDriver.insertItem('key', 'of the other', { ttl: 60 })).toBe(true)
    await firstDriver.clear()
    expect([await firstDriver.getKeys(), await secondDriver.getKeys()]).toEqual([[], ['key']])
    await secondDriver.clear()
  })

  test('makes reads reject when it is not a string', async () => {
    const driver = open()
    await server.command('RPUSH', 'grantry:code:1', 'x')
    await expect(driver.getItem('code:1')).rejects.toThrow(/^Redis at 127\.0\.0\.1:\d+ returned an error: WRONGTYPE/u)
    expect(await driver.insertItem('code:1', 'x', { ttl: 60 })).toBe(false)
  })

  test('makes operations reject after an unexpected reply', async () => {
    const client = new Redis(server.url, { autoResendUnfulfilledCommands: false })
    client.get = () => Promise.resolve(Buffer.from('x')) as never
    client.call = () => Promise.resolve('QUEUED') as never
    const driver = driverOf({ client })
    await expect(driver.getItem('key')).rejects.toThrow('Redis returned an unexpected reply to GET')
    await expect(driver.setItem('key', 'x', { ttl: 60 })).rejects.toThrow('Redis returned an unexpected reply to SET')
    await expect(driver.insertItem('key', 'x', { ttl: 60 })).rejects.toThrow(
      'Redis returned an unexpected reply to SET NX',
    )
    client.disconnect()
  })

  // Silently losing a revocation would be worse than refusing one.
  test('is rejected by a full server, which still reads and removes items', async () => {
    const driver = open()
    await driver.setItem('there', 'value', { ttl: 60 })
    await server.command('CONFIG', 'SET', 'maxmemory', 1)
    try {
      for (const writing of [
        driver.setItem('new', 'the-value', { ttl: 60 }),
        driver.insertItem('new', 'the-value', { ttl: 60 }),
      ]) {
        const error = await refusal(writing)
        expect(error.message).toMatch(/^Redis at 127\.0\.0\.1:\d+ returned an error: OOM command not allowed/u)
      }
      expect(await driver.getItem('there')).toBe('value')
      await driver.removeItem('there')
      expect(await driver.getItem('there')).toBeNull()
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', 0)
    }
    expect(await driver.insertItem('new', 'x', { ttl: 60 })).toBe(true)
  })

  test('is not in the error when the server quotes an unknown command', async () => {
    const withoutSet = await startRedis({ arguments: ['--rename-command', 'SET', ''] })
    const driver = driverOf({ url: withoutSet.url })
    const { message } = await refusal(driver.setItem('key', 'the-value', { ttl: 60 }))
    expect(message).toMatch(/returned an error: ERR unknown command 'set'$/u)
    await driver.dispose()
    await withoutSet.stop()
  })
})
