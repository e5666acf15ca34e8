// Redis hangs, dies, or is unreachable. Operations must reject soon, so that the provider responds 503, and the same
// driver must work again when Redis is back, without a restart of the process.
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startProxy } from '../support/redis-proxy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

/** Seconds. */
const operationTimeout = 0.5
/** Milliseconds to allow for `operationTimeout` on a busy machine. */
const soon = 5000

const operations: readonly [name: string, act: (driver: RedisDriver) => Promise<unknown>][] = [
  ['getItem', (driver) => driver.getItem('key')],
  ['hasItem', (driver) => driver.hasItem('key')],
  ['setItem', (driver) => driver.setItem('key', 'x', { ttl: 60 })],
  ['insertItem', (driver) => driver.insertItem('inserted', 'x', { ttl: 60 })],
  ['removeItem', (driver) => driver.removeItem('key')],
  ['getKeys', (driver) => driver.getKeys()],
  ['clear', (driver) => driver.clear()],
]

/** Runs all operations concurrently and returns the messages of their rejections. */
async function refusals(driver: RedisDriver): Promise<readonly string[]> {
  const begun = performance.now()
  const outcomes = await Promise.allSettled(operations.map(([, act]) => act(driver)))
  expect(performance.now() - begun).toBeLessThan(soon)
  return outcomes.map((outcome, index) =>
    outcome.status === 'rejected' ? outcome.reason.message : `${operations[index]?.[0]} did not reject`,
  )
}

const works = (driver: RedisDriver): Promise<unknown> =>
  expect
    .poll(() => driver.setItem('probe', 'x', { ttl: 60 }).catch(({ message }) => message), { timeout: 15_000 })
    .toBeUndefined()

describeWithRedis('the Redis driver', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())
  const driverOf = redisDrivers()
  const clientId = (driver: RedisDriver): Promise<number> => (driver.getInstance() as Redis).client('ID')

  test('rejects while the server hangs, and works again afterwards', async () => {
    const driver = driverOf({ url: server.url, operationTimeout })
    await driver.open()
    server.pause()
    try {
      const silence = `Redis at 127.0.0.1:${server.port} is not available: no response within ${operationTimeout} s`
      expect(new Set(await refusals(driver))).toEqual(new Set([silence]))
      // Long enough for reconnection attempts, which get no response either.
      for (let round = 0; round < 4; round += 1) {
        for (const refusal of await refusals(driver))
          expect(refusal).toMatch(/is not available: (?:no response|no conn)/u)
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
    } finally {
      server.resume()
    }
    await works(driver)
    // A rejected operation must not be queued and performed later.
    expect(await driver.getItem('late')).toBeNull()
    for (const [, act] of operations) await act(driver)
  }, 60_000)

  test('rejects operations in flight and later ones when the server dies, and works again when it is back', async () => {
    const driver = driverOf({ url: server.url, operationTimeout })
    await driver.open()
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
    for (const [, act] of operations) await act(driver)
  }, 60_000)

  test('reports the current error, not an earlier one', async () => {
    const driver = driverOf({ url: server.url, operationTimeout: 10 })
    await driver.open()
    await server.kill()
    await expect.poll(() => driver.getItem('key').catch(({ message }) => message)).toContain('ECONNREFUSED')
    await server.restart()
    await works(driver)
    server.pause()
    const asking = driver.getItem('key')
    ;(driver.getInstance() as Redis).disconnect(true)
    await expect(asking).rejects.toThrow('is not available: no connection')
    server.resume()
  }, 60_000)

  // ioredis 5.11 does not clear a timer of the old socket (socketTimeout), which then destroys the new one.
  test('keeps the new connection after an outage', async () => {
    const driver = driverOf({ url: server.url, operationTimeout })
    await driver.open()
    server.pause()
    const underWay = refusals(driver)
    await server.kill()
    await underWay
    await server.restart()
    await works(driver)
    const id = await clientId(driver)
    await new Promise((resolve) => setTimeout(resolve, operationTimeout * 2000))
    expect(await clientId(driver)).toBe(id)
  }, 60_000)

  test('drops a dead connection and uses a new one', async () => {
    const proxy = await startProxy(server)
    const driver = driverOf({ url: proxy.url, operationTimeout })
    await driver.open()
    proxy.darken()
    expect(new Set(await refusals(driver))).toEqual(
      new Set([`Redis at 127.0.0.1:${proxy.port} is not available: no response within ${operationTimeout} s`]),
    )
    await works(driver)
    await driver.dispose()
    await proxy.stop()
  }, 60_000)

  // By default ioredis resends the command, and the insert would return false.
  test('does not resend a command that the server may have performed before the connection broke', async () => {
    const proxy = await startProxy(server)
    const driver = driverOf({ url: proxy.url })
    await driver.open()
    proxy.loseAnswers()
    const inserting = driver.insertItem('once', 'x', { ttl: 60 })
    await expect.poll(() => server.command('EXISTS', 'grantry:once')).toBe(1)
    proxy.cut()
    await expect(inserting).rejects.toThrow(`Redis at 127.0.0.1:${proxy.port} is not available: no connection`)
    await works(driver)
    await driver.dispose()
    await proxy.stop()
  }, 60_000)

  // A request must not wait for an unreachable server, and a rejected operation must not be performed later.
  test('rejects immediately without a connection', async () => {
    const proxy = await startProxy(server)
    const driver = driverOf({ url: proxy.url, operationTimeout: 60 })
    await driver.open()
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
    await driver.dispose()
    await proxy.stop()
  })

  // The driver may connect while the network drops packets.
  test('drops a connection that dies before it is ready', async () => {
    const proxy = await startProxy(server)
    const driver = driverOf({ url: proxy.url, operationTimeout })
    await driver.open()
    server.pause()
    await refusals(driver)
    // By now it has reconnected and waits for the ready check of the paused server.
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.darken()
    server.resume()
    await works(driver)
    await driver.dispose()
    await proxy.stop()
  }, 60_000)

  test('reconnects when its server was demoted, and writes again when the server is a primary', async () => {
    const other = await startRedis()
    const driver = driverOf({ url: server.url, operationTimeout })
    await driver.open()
    const id = await clientId(driver)
    await server.command('REPLICAOF', '127.0.0.1', other.port)
    await expect(driver.setItem('key', 'x', { ttl: 60 })).rejects.toThrow('returned an error: READONLY')
    await expect.poll(() => clientId(driver).catch(() => id)).not.toBe(id)
    await server.command('REPLICAOF', 'NO', 'ONE')
    await works(driver)
    await other.stop()
  })

  test("rejects in time with the caller's client and leaves the client open", async () => {
    const client = new Redis(server.url)
    const driver = driverOf({ client, operationTimeout })
    await driver.open()
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
  }, 60_000)
})
