// waitReplicas: a write resolves, to true or false, only once the stored item is on a replica. Otherwise the loss of
// the primary could lose a redemption, and the code could be redeemed again.
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { redisServers } from '../support/redis-servers.ts'

/** Seconds, for tests in which it passes. */
const short = 1
/** Seconds, for tests where it matters which of two limits is reached first on a busy machine. */
const long = 8
const ttl = 60

describeWithRedis('the Redis driver with waitReplicas', () => {
  // Each test has its own servers: all of them run concurrently, because they mostly wait.
  const servers = redisServers()
  const driverOf = redisDrivers({ concurrent: true })

  async function replicated() {
    const primary = await servers.start()
    const replica = await servers.replicaOf(primary)
    return {
      primary,
      replica,
      async open(more: { waitReplicas?: number; operationTimeout?: number } = {}): Promise<RedisDriver> {
        const driver = driverOf({ url: primary.url, waitReplicas: 1, ...more })
        await (more.operationTimeout === short ? eventually(() => driver.open()) : driver.open())
        return driver
      },
      /** Runs `act` while the replica is connected but receives nothing. */
      async withoutReplica<T>(act: () => Promise<T>): Promise<T> {
        replica.pause()
        try {
          return await act()
        } finally {
          replica.resume()
        }
      },
    }
  }
  const unconfirmed =
    /confirmed a write on only 0 of 1 replicas within 750 ms$|is not available: no response within 1 s$/u
  /** Returns the ids of the driver's connections. */
  const connections = async (primary: RedisServer): Promise<readonly string[]> =>
    String(await primary.command('CLIENT', 'LIST'))
      .split('\n')
      .filter((line) => line.includes(' name=grantry '))
      .map((line) => line.split(' ')[0] ?? '')
      .sort()

  test.concurrent('behaves as without it while the replica is available', async ({ expect }) => {
    const { replica, open } = await replicated()
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

  test.concurrent('rejects an insert, a set and a removal that the replica has not received', async ({ expect }) => {
    const { open, withoutReplica } = await replicated()
    const driver = await open({ operationTimeout: short })
    await eventually(() => driver.setItem('there', 'x', { ttl }))
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
    // They were performed anyway, and a retry resolves once the replica has them.
    await expect.poll(() => driver.insertItem('new', 'y', { ttl }).catch(() => undefined)).toBe(false)
  })

  test.concurrent('does not return false before the existing item is on the replica', async ({ expect }) => {
    const { primary, replica, open, withoutReplica } = await replicated()
    const driver = await open({ operationTimeout: short })
    await withoutReplica(async () => {
      // The winner is another process, whose insert times out too.
      await primary.command('SET', 'grantry:spent:1', 'winner', 'NX', 'PX', 60_000)
      await expect(driver.insertItem('spent:1', 'loser', { ttl })).rejects.toThrow(unconfirmed)
    })
    await expect.poll(() => driver.insertItem('spent:1', 'loser', { ttl }).catch(() => undefined)).toBe(false)
    expect(await replica.command('GET', 'grantry:spent:1')).toBe('winner')
  })

  // Before 7.2, WAIT covers all writes; since then, as documented, only those of its own connection.
  test.concurrent('writes a fence behind an insert before it waits, on the same connection', async ({ expect }) => {
    const { primary, open } = await replicated()
    const driver = await open()
    await driver.setItem('fenced', 'x', { ttl })
    const seen: (readonly [from: string, command: string])[] = []
    const endMonitor = await monitorRedis(primary, (command, from) => {
      if (/^(?:set|wait)$/u.test(command[0] ?? '')) seen.push([from, command.join(' ')])
    })
    expect(await driver.insertItem('fenced', 'y', { ttl })).toBe(false)
    await expect
      .poll(() => seen.map(([, command]) => command))
      .toEqual(['set grantry:fenced y NX PX 60000', 'set grantry:fence:{grantry:fenced} 1 PX 1000', 'wait 1 45000'])
    expect(new Set(seen.map(([from]) => from)).size).toBe(1)
    endMonitor()
    expect(await driver.getKeys('fence')).toEqual(['fenced'])
  })

  test.concurrent('reports how many replicas confirmed', async ({ expect }) => {
    const { primary, open, withoutReplica } = await replicated()
    const driver = await open({ operationTimeout: 4 })
    await withoutReplica(() =>
      expect(driver.setItem('said', 'x', { ttl })).rejects.toThrow(
        `Redis at 127.0.0.1:${primary.port} confirmed a write on only 0 of 1 replicas within 3000 ms`,
      ),
    )
  })

  test.concurrent('reads while writes wait for replicas', async ({ expect }) => {
    const { primary, open, withoutReplica } = await replicated()
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

  test.concurrent('confirms concurrent writes together, each with its own result', async ({ expect }) => {
    const { open } = await replicated()
    const driver = await open()
    await driver.setItem('many:0', 'x', { ttl })
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => driver.insertItem(`many:${index % 100}`, String(index), { ttl })),
    )
    expect(responses.map((response, index) => response === (index > 0 && index < 100))).not.toContain(false)
    expect((await driver.getKeys('many:')).length).toBe(100)
  })

  test.concurrent('a failed write does not affect the others of its batch', async ({ expect }) => {
    const { primary, open } = await replicated()
    const driver = await open()
    await driver.setItem('there', 'x', { ttl })
    await primary.command('CONFIG', 'SET', 'maxmemory', 1)
    try {
      const outcomes = await Promise.allSettled([
        driver.setItem('refused', 'x', { ttl }),
        driver.removeItem('there'),
        // No write that WAIT could cover, and the fence was rejected.
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

  test.concurrent('keeps its connections during a long outage of a replica', async ({ expect }) => {
    const { primary, open, withoutReplica } = await replicated()
    const driver = await open({ operationTimeout: long })
    await driver.setItem('key', 'x', { ttl })
    const before = await connections(primary)
    expect(before).toHaveLength(2)
    await withoutReplica(async () => {
      const writing: Promise<unknown>[] = []
      for (let round = 0; round < 10; round += 1) {
        writing.push(expect(driver.setItem('key', 'x', { ttl })).rejects.toThrow(/confirmed|no response/u))
      }
      await Promise.all(writing)
    })
    expect(await connections(primary)).toEqual(before)
    await expect.poll(() => driver.setItem('key', 'x', { ttl }).catch(() => 'rejected')).toBeUndefined()
  })

  test.concurrent('waits for the configured number of replicas', async ({ expect }) => {
    const { open } = await replicated()
    await expect(open({ waitReplicas: 2, operationTimeout: 4 })).rejects.toThrow(
      'has 1 replicas in sync, but waitReplicas is 2',
    )
    await open()
  })

  test.concurrent('reports with each write why the primary is unreachable', async ({ expect }) => {
    const { primary, open } = await replicated()
    const driver = await open()
    await primary.kill()
    const refusal = () => driver.setItem('key', 'x', { ttl }).catch(({ message }) => message)
    await expect.poll(refusal).toContain('ECONNREFUSED')
    for (let write = 0; write < 5; write += 1) expect(await refusal()).toContain('ECONNREFUSED')
  })

  test.concurrent('drops a dead connection for writes and uses a new one', async ({ expect }) => {
    const { primary } = await replicated()
    const proxy = await servers.proxyTo(primary)
    const driver = driverOf({ url: proxy.url, waitReplicas: 1, operationTimeout: short })
    await eventually(() => driver.open())
    proxy.darken()
    // No reads, so that the connection for reads is not involved.
    const writing = () => driver.setItem('dark', 'x', { ttl }).catch(({ message }) => message)
    expect(await writing()).toContain('no response within 1 s')
    await expect.poll(writing).toBeUndefined()
  })

  test.concurrent("works with the caller's client", async ({ expect }) => {
    const { primary, withoutReplica } = await replicated()
    const client = new Redis(primary.url, { autoResendUnfulfilledCommands: false })
    const driver = driverOf({ client, waitReplicas: 1, operationTimeout: long })
    expect(await driver.insertItem('given', 'x', { ttl })).toBe(true)
    expect(await driver.insertItem('given', 'x', { ttl })).toBe(false)
    await withoutReplica(() =>
      expect(driver.setItem('given', 'y', { ttl })).rejects.toThrow(/0 of 1 replicas|no response/u),
    )
    client.disconnect()
  })

  test.concurrent('rejects when the replica has disconnected', async ({ expect }) => {
    const { primary, replica, open } = await replicated()
    const driver = await open({ operationTimeout: short })
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await expect(driver.insertItem('left', 'x', { ttl })).rejects.toThrow(unconfirmed)
    await replica.command('REPLICAOF', '127.0.0.1', primary.port)
    await expect.poll(() => driver.insertItem('left', 'x', { ttl }).catch(() => undefined)).toBe(false)
  })
})
