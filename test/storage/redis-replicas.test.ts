// waitReplicas: what was answered is on a replica, also when it is that somebody else was first. Whoever loses the primary must not lose a
// redemption with it, or the code could be redeemed again.
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startProxy } from '../support/redis-proxy.ts'
import { startReplica } from '../support/redis-replica.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

/** Seconds. */
const operationTimeout = 1
/** Seconds, where it matters which of two limits is reached first, on a machine that has other things to do as well. */
const long = 8
const ttl = 60

describeWithRedis('the Redis driver with waitReplicas', () => {
  let primary: RedisServer
  let replica: RedisServer
  beforeAll(async () => {
    primary = await startRedis()
    replica = await startReplica(primary)
  })
  afterAll(() => Promise.all([primary.stop(), replica.stop()]))

  const driverOf = redisDrivers()
  async function open(more: { waitReplicas?: number; operationTimeout?: number } = {}): Promise<RedisDriver> {
    const driver = driverOf({ url: primary.url, waitReplicas: 1, operationTimeout, ...more })
    await driver.open()
    return driver
  }
  /** While the replica is connected and takes nothing. */
  async function withoutReplica<T>(act: () => Promise<T>): Promise<T> {
    replica.pause()
    try {
      return await act()
    } finally {
      replica.resume()
    }
  }
  const unconfirmed =
    /confirmed a write on only 0 of 1 replicas within 750 ms$|is not available: no response within 1 s$/u
  /** The ids of the driver's connections. */
  const connections = async (): Promise<readonly string[]> =>
    String(await primary.command('CLIENT', 'LIST'))
      .split('\n')
      .filter((line) => line.includes(' name=grantry '))
      .map((line) => line.split(' ')[0] ?? '')
      .sort()

  test('answers as without it when the replica is there', async () => {
    const driver = await open()
    expect(await driver.insertItem('plain', 'first', { ttl })).toBe(true)
    expect(await driver.insertItem('plain', 'second', { ttl })).toBe(false)
    await driver.setItem('plain', 'third', { ttl })
    expect(await driver.getItem('plain')).toBe('third')
    expect(await replica.command('GET', 'grantry:plain')).toBe('third')
    await driver.removeItem('plain')
    expect(await driver.insertItem('plain', 'fourth', { ttl })).toBe(true)
    await driver.clear()
    expect(await driver.getKeys()).toEqual([])
  })

  test('rejects an insert, a set and a removal that the replica has not got', async () => {
    const driver = await open()
    await driver.setItem('there', 'x', { ttl })
    const outcomes = await withoutReplica(() =>
      Promise.allSettled([
        driver.insertItem('new', 'x', { ttl }),
        driver.setItem('set', 'x', { ttl }),
        driver.removeItem('there'),
      ]),
    )
    for (const outcome of outcomes) {
      expect(outcome.status === 'rejected' && outcome.reason.message).toMatch(unconfirmed)
    }
    // They were performed all the same, and whoever asks again is answered when the replica has them.
    await expect.poll(() => driver.insertItem('new', 'y', { ttl }).catch(() => undefined)).toBe(false)
  })

  test('does not answer false before the item that is there is on the replica', async () => {
    const driver = await open()
    await withoutReplica(async () => {
      // The winner: another process, which gets no answer in time either.
      await primary.command('SET', 'grantry:spent:1', 'winner', 'NX', 'PX', 60_000)
      await expect(driver.insertItem('spent:1', 'loser', { ttl })).rejects.toThrow(unconfirmed)
    })
    await expect.poll(() => driver.insertItem('spent:1', 'loser', { ttl }).catch(() => undefined)).toBe(false)
    expect(await replica.command('GET', 'grantry:spent:1')).toBe('winner')
  })

  // Redis before 7.2 waits for everything; since then, and by its documentation, WAIT is about the writes of its own connection.
  test('writes a fence behind an insert before it waits, on the same connection', async () => {
    const driver = await open()
    await driver.setItem('fenced', 'x', { ttl })
    const client = new Redis(primary.url)
    const monitor = await client.monitor()
    const seen: (readonly [from: string, command: string])[] = []
    monitor.on('monitor', (_, command: string[], from: string) => {
      if (/^(?:set|wait)$/u.test(command[0] ?? '')) seen.push([from, command.join(' ')])
    })
    expect(await driver.insertItem('fenced', 'y', { ttl })).toBe(false)
    await expect
      .poll(() => seen.map(([, command]) => command))
      .toEqual(['set grantry:fenced y NX PX 60000', 'set grantry:fence:{grantry:fenced} 1 PX 1000', 'wait 1 750'])
    expect(new Set(seen.map(([from]) => from)).size).toBe(1)
    monitor.disconnect()
    client.disconnect()
    expect(await driver.getKeys('fence')).toEqual(['fenced'])
  })

  test('says how many replicas were missing', async () => {
    const driver = await open({ operationTimeout: 4 })
    await withoutReplica(() =>
      expect(driver.setItem('said', 'x', { ttl })).rejects.toThrow(
        `Redis at 127.0.0.1:${primary.port} confirmed a write on only 0 of 1 replicas within 3000 ms`,
      ),
    )
  })

  test('reads while writes wait', async () => {
    const driver = await open({ operationTimeout: long })
    await driver.setItem('read', 'x', { ttl })
    let isWritten = false
    const writing = await withoutReplica(async () => {
      const written = driver.setItem('read', 'y', { ttl }).then(() => {
        isWritten = true
      })
      await expect.poll(() => primary.command('GET', 'grantry:read')).toBe('y')
      expect(await driver.getItem('read')).toBe('y')
      expect(isWritten).toBe(false)
      return { written }
    })
    await writing.written
    expect(isWritten).toBe(true)
  })

  test('confirms what comes at once together, each with its own answer', async () => {
    const driver = await open()
    await driver.setItem('many:0', 'x', { ttl })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => driver.insertItem(`many:${index % 100}`, String(index), { ttl })),
    )
    expect(answers.map((answer, index) => answer === (index > 0 && index < 100))).not.toContain(false)
    expect((await driver.getKeys('many:')).length).toBe(100)
    await driver.clear('many:')
  })

  test('lets one write fail without the others of its group', async () => {
    const driver = await open()
    await driver.setItem('there', 'x', { ttl })
    await primary.command('CONFIG', 'SET', 'maxmemory', 1)
    try {
      const outcomes = await Promise.allSettled([
        driver.setItem('refused', 'x', { ttl }),
        driver.removeItem('there'),
        // Nothing was written that WAIT could be about, and the fence was refused.
        driver.removeItem('absent'),
        driver.insertItem('there', 'x', { ttl }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'rejected'])
      expect(outcomes[0]?.status === 'rejected' && outcomes[0].reason.message).toContain('returned an error: OOM')
    } finally {
      await primary.command('CONFIG', 'SET', 'maxmemory', 0)
    }
    expect(await driver.insertItem('there', 'y', { ttl })).toBe(true)
  })

  test('keeps its connections while a replica is away for long', async () => {
    const driver = await open()
    await driver.setItem('key', 'x', { ttl })
    const before = await connections()
    expect(before).toHaveLength(2)
    await withoutReplica(async () => {
      const writing: Promise<unknown>[] = []
      for (let round = 0; round < 10; round += 1) {
        writing.push(expect(driver.setItem('key', 'x', { ttl })).rejects.toThrow(/confirmed|no answer/u))
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
      await Promise.all(writing)
    })
    expect(await connections()).toEqual(before)
    await expect.poll(() => driver.setItem('key', 'x', { ttl }).catch(() => 'rejected')).toBeUndefined()
  }, 30_000)

  test('asks for as many replicas as it was told', async () => {
    await expect(open({ waitReplicas: 2, operationTimeout: 4 })).rejects.toThrow(
      'has 1 replicas in sync, but waitReplicas is 2',
    )
    await open()
  })

  test('says with each write why the primary cannot be reached', async () => {
    const other = await startRedis()
    const copy = await startReplica(other)
    const driver = driverOf({ url: other.url, waitReplicas: 1, operationTimeout })
    await driver.open()
    await other.kill()
    const refusal = () => driver.setItem('key', 'x', { ttl }).catch(({ message }) => message)
    await expect.poll(refusal).toContain('ECONNREFUSED')
    for (let write = 0; write < 5; write += 1) expect(await refusal()).toContain('ECONNREFUSED')
    await Promise.all([other.stop(), copy.stop()])
  })

  test('leaves a connection for writes that has gone dark, and works over another', async () => {
    const proxy = await startProxy(primary)
    const driver = driverOf({ url: proxy.url, waitReplicas: 1, operationTimeout })
    await driver.open()
    proxy.darken()
    // Nothing is read: the connection for reads must not come into it.
    const writing = () => driver.setItem('dark', 'x', { ttl }).catch(({ message }) => message)
    expect(await writing()).toContain('no response within 1 s')
    await expect.poll(writing, { timeout: 15_000 }).toBeUndefined()
    await driver.dispose()
    await proxy.stop()
  }, 30_000)

  test('works with a client that was given', async () => {
    const client = new Redis(primary.url, { autoResendUnfulfilledCommands: false })
    const driver = driverOf({ client, waitReplicas: 1, operationTimeout })
    expect(await driver.insertItem('given', 'x', { ttl })).toBe(true)
    expect(await driver.insertItem('given', 'x', { ttl })).toBe(false)
    await withoutReplica(() =>
      expect(driver.setItem('given', 'y', { ttl })).rejects.toThrow(/0 of 1 replicas|no answer/u),
    )
    client.disconnect()
  })

  test('rejects when the replica has left', async () => {
    const driver = await open()
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await expect(driver.insertItem('left', 'x', { ttl })).rejects.toThrow(unconfirmed)
    await replica.command('REPLICAOF', '127.0.0.1', primary.port)
    await expect
      .poll(() => driver.insertItem('left', 'x', { ttl }).catch(() => undefined), { timeout: 20_000 })
      .toBe(false)
  }, 30_000)
})
