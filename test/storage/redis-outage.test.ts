// Redis stops, dies, or is cut off. Operations must reject soon, so that the provider answers 503, and the same driver must work again when
// Redis is back, without a restart of the process.
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startProxy } from '../support/redis-proxy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

/** Seconds. */
const operationTimeout = 0.5
/** Milliseconds for what takes as long as `operationTimeout` on a machine that has other things to do. */
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

/** What each operation rejects with, all of them asked for at once. */
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

  test('rejects while the server does not answer, and works again when it does', async () => {
    const driver = driverOf({ url: server.url, operationTimeout })
    await driver.open()
    server.pause()
    try {
      const silence = `Redis at 127.0.0.1:${server.port} is not available: no response within ${operationTimeout} s`
      expect(new Set(await refusals(driver))).toEqual(new Set([silence]))
      // Long enough for attempts to connect again, which are answered by nobody either.
      for (let round = 0; round < 4; round += 1) {
        for (const refusal of await refusals(driver))
          expect(refusal).toMatch(/is not available: (?:no answer|no conn)/u)
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
    } finally {
      server.resume()
    }
    await works(driver)
    // What was rejected must not wait somewhere and be performed later.
    expect(await driver.getItem('late')).toBeNull()
    for (const [, act] of operations) await act(driver)
  }, 60_000)

  test('rejects what is under way when the server dies, then everything, and works again when it is back', async () => {
    const driver = driverOf({ url: server.url, operationTimeout })
    await driver.open()
    server.pause()
    const underWay = refusals(driver)
    await server.kill()
    for (const refusal of await underWay)
      expect(refusal).toMatch(`Redis at 127.0.0.1:${server.port} is not available: `)
    const refused = `Redis at 127.0.0.1:${server.port} is not available: connect ECONNREFUSED 127.0.0.1:${server.port}`
    await expect.poll(async () => [...new Set(await refusals(driver))]).toEqual([refused])
    // Whatever was asked before it.
    for (const [, act] of [...operations, ...operations]) await expect(act(driver)).rejects.toThrow(refused)
    await server.restart()
    await works(driver)
    for (const [, act] of operations) await act(driver)
  }, 60_000)

  test('says what is wrong now, and not what was before', async () => {
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

  // ioredis 5.11 forgets a timer of the old socket (socketTimeout), which then destroys the new one.
  test('is disturbed once by one outage: the connection after it stays', async () => {
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

  test('leaves a connection that has gone dark, and works over another', async () => {
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

  // ioredis would send it again by itself, and answer that somebody else was first.
  test('does not ask again what the server may have done when the connection broke', async () => {
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

  // A request must not wait for a server that is away, and what was rejected must not be performed later.
  test('rejects at once while there is no connection', async () => {
    const proxy = await startProxy(server)
    const driver = driverOf({ url: proxy.url, operationTimeout: 60 })
    await driver.open()
    server.pause()
    try {
      proxy.cut()
      // The first are under way when it breaks.
      for (let round = 0; round < 3; round += 1) {
        for (const refusal of await refusals(driver)) expect(refusal).toContain('is not available: no connection')
      }
    } finally {
      server.resume()
    }
    await driver.dispose()
    await proxy.stop()
  })

  // Somebody may connect while the way is dark.
  test('leaves a connection that goes dark before it is ready', async () => {
    const proxy = await startProxy(server)
    const driver = driverOf({ url: proxy.url, operationTimeout })
    await driver.open()
    server.pause()
    await refusals(driver)
    // It has connected again by now, and asks the paused server whether it is ready.
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.darken()
    server.resume()
    await works(driver)
    await driver.dispose()
    await proxy.stop()
  }, 60_000)

  test('looks for the primary again when its server was demoted, and writes again when it is one', async () => {
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

  test('with a client that was given rejects in time as well, and leaves the client open', async () => {
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
