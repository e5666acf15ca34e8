// PostgreSQL hangs, dies, or is unreachable. Operations must reject soon, so that the provider responds 503, and the
// same driver must work again when it is back, without a restart of the process.
import type { PostgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { type RedisProxy, startProxy } from '../support/redis-proxy.ts'

/** Seconds. */
const operationTimeout = 2

const operations: readonly [name: string, act: (driver: PostgresqlDriver) => Promise<unknown>][] = [
  ['getItem', (driver) => driver.getItem('key')],
  ['getItems', (driver) => driver.getItems([{ key: 'key' }, { key: 'other' }])],
  ['setItem', (driver) => driver.setItem('key', 'x', { ttl: 60 })],
  ['insertItem', (driver) => driver.insertItem('inserted', 'x', { ttl: 60 })],
  ['incrementItem', (driver) => driver.incrementItem('count', { ttl: 60 })],
  ['commit', (driver) => driver.commit({ create: [{ key: 'c', value: 'x', ttl: 60 }], put: [], remove: ['d'] })],
  ['removeItem', (driver) => driver.removeItem('key')],
  ['getKeys', (driver) => driver.getKeys()],
]

/** Performs all operations concurrently and returns the messages of their rejections. */
async function refusals(driver: PostgresqlDriver): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(operations.map(([, act]) => act(driver)))
  return outcomes.map((outcome, index) =>
    outcome.status === 'rejected' ? outcome.reason.message : `${operations[index]?.[0]} did not reject`,
  )
}

/** Resolves when the driver performs each operation again. */
const works = (driver: PostgresqlDriver): Promise<void> =>
  eventually(async () => {
    for (const [, act] of operations) await act(driver)
  })

describeWithPostgresql('the PostgreSQL driver', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()

  async function opened(timeout = operationTimeout): Promise<[PostgresqlServer, PostgresqlDriver]> {
    const server = await start()
    const driver = driverOf({ url: server.url, operationTimeout: timeout })
    await eventually(() => driver.open())
    return [server, driver]
  }

  /** A driver whose connections pass a proxy. */
  async function proxied(): Promise<[RedisProxy, PostgresqlDriver, PostgresqlServer]> {
    const server = await start()
    const proxy = await startProxy(server)
    onTestFinished(() => proxy.stop())
    const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`)
    const driver = driverOf({ url, operationTimeout })
    await eventually(() => driver.open())
    return [proxy, driver, server]
  }

  test('rejects while the server hangs, and works again afterwards', async () => {
    const [server, driver] = await opened()
    server.pause()
    try {
      for (let round = 0; round < 3; round += 1) {
        const silence = `PostgreSQL at 127.0.0.1:${server.port}, database "postgres" is not available: `
        for (const refusal of await refusals(driver)) expect(refusal).toContain(silence)
      }
    } finally {
      server.resume()
    }
    await works(driver)
  })

  test('rejects operations in flight and later ones when the server is killed, and works again', async () => {
    const [server, driver] = await opened()
    server.pause()
    const inFlight = refusals(driver)
    await server.kill()
    for (const refusal of await inFlight) expect(refusal).toContain('is not available: ')
    await expect
      .poll(async () => [...new Set(await refusals(driver))])
      .toEqual([expect.stringContaining('ECONNREFUSED')])
    await server.restart()
    await works(driver)
  })

  test('works again on new connections when the existing ones go dark', async () => {
    const [proxy, driver] = await proxied()
    await works(driver)
    proxy.darken()
    expect((await refusals(driver)).filter((refusal) => refusal.includes('no response within 2 s'))).not.toEqual([])
    await works(driver)
  })

  test('performs a read again when its connection breaks, but not a write', async () => {
    const [proxy, driver, server] = await proxied()
    // Two connections, which have performed operations.
    await Promise.all([driver.setItem('key', 'x', { ttl: 60 }), driver.getItem('key')])
    const used = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'grantry' AND query LIKE '%FROM %'"
    await eventually(async () => {
      await Promise.all([driver.setItem('key', 'x', { ttl: 60 }), driver.getItem('key')])
      expect(await server.query(used)).toHaveLength(2)
    })
    // No reply to the statements that are in flight when the connections are cut.
    proxy.loseResponses()
    const reading = driver.getItem('key')
    const writing = driver.insertItem('inserted', 'x', { ttl: 60 })
    const outcomes = Promise.allSettled([reading, writing])
    await expect.poll(() => server.query("SELECT 1 FROM grantry_items WHERE value = 'x'")).toHaveLength(2)
    proxy.cut()
    expect(await outcomes).toMatchObject([
      { status: 'fulfilled', value: 'x' },
      { status: 'rejected', reason: { message: expect.stringContaining('is not available') } },
    ])
    expect(await driver.getItem('inserted')).toBe('x')
  })

  test('works again after the server has ended all sessions', async () => {
    const [server, driver] = await opened()
    await works(driver)
    await server.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1',
      ['client backend'],
    )
    await works(driver)
  })

  test('opens no more connections than allowed, and performs what waits', async () => {
    const server = await start({ settings: ['max_connections=8'] })
    const driver = driverOf({ url: server.url, maxConnections: 3 })
    const inserted = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => driver.insertItem(`key:${index % 250}`, 'x', { ttl: 60 })),
    )
    expect(inserted.filter(Boolean)).toHaveLength(250)
    const rows = await server.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'grantry'")
    // Fewer, if all is done before another one is open.
    expect(rows.length).toBeLessThanOrEqual(3)
  })

  test('explains that the server has no free connections', async () => {
    const server = await start({
      settings: ['max_connections=2', 'superuser_reserved_connections=0', 'max_wal_senders=0'],
    })
    const holders = [driverOf({ url: server.url, maxConnections: 1 }), driverOf({ url: server.url, maxConnections: 1 })]
    for (const holder of holders) await holder.open()
    const refused = driverOf({ url: server.url }).open()
    await expect(refused).rejects.toThrow(/has no free connections; raise its max_connections.*\(53300\)$/u)
    await holders[0]?.dispose()
    const driver = driverOf({ url: server.url, maxConnections: 1 })
    await eventually(() => driver.open())
  })
})
