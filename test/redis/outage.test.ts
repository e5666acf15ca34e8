// Redis hangs, dies, or is unreachable. Operations must reject soon, so that the provider responds 503, and the same
// driver must work again when Redis is back, without a restart of the process.
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { redisServers } from '../support/redis-servers.ts'

/** Seconds. */
const operationTimeout = 2

const operations: readonly [name: string, act: (driver: RedisDriver) => Promise<unknown>][] = [
  ['getItem', (driver) => driver.getItem('key')],
  ['getItems', (driver) => driver.getItems([{ key: 'key' }, { key: 'other' }])],
  ['hasItem', (driver) => driver.hasItem('key')],
  ['setItem', (driver) => driver.setItem('key', 'x', { ttl: 60 })],
  ['insertItem', (driver) => driver.insertItem('inserted', 'x', { ttl: 60 })],
  ['removeItem', (driver) => driver.removeItem('key')],
  ['getKeys', (driver) => driver.getKeys()],
  ['clear', (driver) => driver.clear()],
]

/** Runs all operations concurrently and returns the messages of their rejections. */
async function refusals(driver: RedisDriver): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(operations.map(([, act]) => act(driver)))
  return outcomes.map((outcome, index) =>
    outcome.status === 'rejected' ? outcome.reason.message : `${operations[index]?.[0]} did not reject`,
  )
}

/** Resolves when the driver performs each operation again. On a busy machine, one of them may exceed its time limit. */
const works = (driver: RedisDriver): Promise<void> =>
  eventually(async () => {
    for (const [, act] of operations) await act(driver)
  })
/** Resolves when the client connects the next time. */
const connected = (client: Redis): Promise<void> => new Promise((resolve) => client.once('connect', () => resolve()))
const opened = async (driver: RedisDriver): Promise<Redis> => {
  await eventually(() => driver.open())
  return driver.getInstance() as Redis
}

describeWithRedis('the Redis driver', () => {
  // Each test has its own server: all of them run concurrently, because they mostly wait.
  const servers = redisServers()
  const driverOf = redisDrivers({ concurrent: true })
  const clientId = (driver: RedisDriver): Promise<number> => (driver.getInstance() as Redis).client('ID')

  test.concurrent('rejects while the server hangs, and works again afterwards', async ({ expect }) => {
    const server = await servers.start()
    const driver = driverOf({ url: server.url, operationTimeout })
    const client = await opened(driver)
    server.pause()
    try {
      const silence = `Redis at 127.0.0.1:${server.port} is not available: no response within ${operationTimeout} s`
      expect(new Set(await refusals(driver))).toEqual(new Set([silence]))
      for (let round = 0; round < 2; round += 1) {
        // The server accepts the connection, but gives no response to the ready check either.
        const reconnected = connected(client)
        for (const refusal of await refusals(driver))
          expect(refusal).toMatch(/is not available: (?:no response|no conn)/u)
        await reconnected
      }
    } finally {
      server.resume()
    }
    await works(driver)
  })

  test.concurrent('rejects operations in flight and later ones when the server dies, and works again when it is back', async ({
    expect,
  }) => {
    const server = await servers.start()
    const driver = driverOf({ url: server.url, operationTimeout })
    await opened(driver)
    server.pause()
    const underWay = refusals(driver)
    await server.kill()
    for (const refusal of await underWay)
      expect(refusal).toMatch(`Redis at 127.0.0.1:${server.port} is not available: `)
    const refused = `Redis at 127.0.0.1:${server.port} is not available: connect ECONNREFUSED 127.0.0.1:${server.port}`
    await expect.poll(async () => [...new Set(await refusals(driver))]).toEqual([refused])
    // Regardless of the operation before it.
    for (const [, act] of [...operations, ...operations]) await expect(act(driver)).rejects.toThrow(refused)
    await server.restart()
    await works(driver)
  })

  test.concurrent('reports the current error, not an earlier one', async ({ expect }) => {
    const server = await servers.start()
    const driver = driverOf({ url: server.url, operationTimeout: 10 })
    await opened(driver)
    await server.kill()
    await expect.poll(() => driver.getItem('key').catch(({ message }) => message)).toContain('ECONNREFUSED')
    await server.restart()
    await works(driver)
    server.pause()
    const asking = driver.getItem('key')
    ;(driver.getInstance() as Redis).disconnect(true)
    await expect(asking).rejects.toThrow('is not available: no connection')
    server.resume()
  })

  // ioredis 5.11 does not clear a timer of the old socket (socketTimeout), which then destroys the new one.
  test.concurrent('keeps the new connection after an outage', async ({ expect }) => {
    const server = await servers.start()
    const driver = driverOf({ url: server.url, operationTimeout })
    await opened(driver)
    server.pause()
    const underWay = refusals(driver)
    // Ends after a timer of the client that has the same duration and began with the operations.
    const timerOfOldSocket = pause(operationTimeout * 1000)
    await server.kill()
    await underWay
    await server.restart()
    await works(driver)
    const id = await eventually(() => clientId(driver))
    await timerOfOldSocket
    expect(await eventually(() => clientId(driver))).toBe(id)
  })

  test.concurrent('drops a dead connection and uses a new one', async ({ expect }) => {
    const server = await servers.start()
    const proxy = await servers.proxyTo(server)
    const driver = driverOf({ url: proxy.url, operationTimeout })
    await opened(driver)
    proxy.darken()
    expect(new Set(await refusals(driver))).toEqual(
      new Set([`Redis at 127.0.0.1:${proxy.port} is not available: no response within ${operationTimeout} s`]),
    )
    await works(driver)
  })

  // By default ioredis resends the command, and the insert would return false.
  test.concurrent('does not resend a command that the server may have performed before the connection broke', async ({
    expect,
  }) => {
    const server = await servers.start()
    const proxy = await servers.proxyTo(server)
    const driver = driverOf({ url: proxy.url })
    await opened(driver)
    proxy.loseResponses()
    const inserting = driver.insertItem('once', 'x', { ttl: 60 })
    await expect.poll(() => server.command('EXISTS', 'grantry:once')).toBe(1)
    proxy.cut()
    await expect(inserting).rejects.toThrow(`Redis at 127.0.0.1:${proxy.port} is not available: no connection`)
    await works(driver)
  })

  // A request must not wait for an unreachable server, and a rejected operation must not be performed later.
  test.concurrent('rejects immediately without a connection', async ({ expect }) => {
    const server = await servers.start()
    const proxy = await servers.proxyTo(server)
    const driver = driverOf({ url: proxy.url, operationTimeout: 60 })
    await opened(driver)
    server.pause()
    try {
      proxy.cut()
      // The first operations are in flight when the connection breaks.
      for (let round = 0; round < 3; round += 1) {
        for (const refusal of await refusals(driver)) expect(refusal).toContain('is not available: no connection')
      }
    } finally {
      server.resume()
    }
  })

  // The driver may connect while the network drops packets.
  test.concurrent('drops a connection that dies before it is ready', async () => {
    const server = await servers.start()
    const proxy = await servers.proxyTo(server)
    const driver = driverOf({ url: proxy.url, operationTimeout })
    const client = await opened(driver)
    server.pause()
    const reconnected = connected(client)
    await refusals(driver)
    // Now it waits for the ready check of the paused server.
    await reconnected
    proxy.darken()
    server.resume()
    await works(driver)
  })

  test.concurrent('reconnects when its server was demoted, and writes again when the server is a primary', async ({
    expect,
  }) => {
    const server = await servers.start()
    const primary = await servers.start()
    const driver = driverOf({ url: server.url, operationTimeout })
    await opened(driver)
    const id = await clientId(driver)
    await server.command('REPLICAOF', '127.0.0.1', primary.port)
    await expect(driver.setItem('key', 'x', { ttl: 60 })).rejects.toThrow('returned an error: READONLY')
    await expect.poll(() => clientId(driver).catch(() => id)).not.toBe(id)
    await server.command('REPLICAOF', 'NO', 'ONE')
    await works(driver)
  })

  test.concurrent("rejects in time with the caller's client and leaves the client open", async ({ expect }) => {
    const server = await servers.start()
    const client = new Redis(server.url, { autoResendUnfulfilledCommands: false })
    const driver = driverOf({ client, operationTimeout })
    await opened(driver)
    expect(driver.getInstance()).toBe(client)
    expect(await driver.insertItem('given', 'x', { ttl: 60 })).toBe(true)
    server.pause()
    const silence = `Redis is not available: no response within ${operationTimeout} s`
    expect(new Set(await refusals(driver))).toEqual(new Set([silence]))
    server.resume()
    await works(driver)
    await driver.dispose()
    await expect(driver.getItem('given')).rejects.toThrow('was disposed of')
    expect(await client.ping()).toBe('PONG')
    expect(client.listenerCount('error')).toBe(0)
    client.disconnect()
  })
})
