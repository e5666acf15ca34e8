// Behind a PgBouncer in transaction mode, each statement can reach another session of the server.
import { writeFile } from 'node:fs/promises'
import type { PostgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { dataFile, type PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const define = (): void => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  let bouncer: PgBouncer
  beforeAll(async () => {
    server = await start()
    // The driver cannot set it for a session that PgBouncer shares.
    await server.query("ALTER ROLE postgres SET statement_timeout = '30s'")
    bouncer = await startPgBouncer(server, 3)
  })
  afterAll(() => bouncer?.stop())

  test('the driver creates its table and performs concurrent operations of two processes on three sessions', async () => {
    const options = { url: bouncer.url, preparedStatements: false, schema: 'behind' }
    const drivers = [driverOf(options), driverOf(options)]
    const each = Array.from({ length: 120 }, (_, index) => index)
    const driverFor = (index: number) => drivers[index % 2] as (typeof drivers)[number]
    const item = (key: string) => ({ key, value: `of ${key}`, ttl: 60 })
    const created = await Promise.all(
      each.map((index) => driverFor(index).insertItem(`insert:${index % 60}`, 'x', { ttl: 60 })),
    )
    expect(created.filter(Boolean)).toHaveLength(60)
    const outcomes = await Promise.all(
      each.map((index) =>
        driverFor(index).commit({
          create: [item(`spent:${index % 60}`)],
          put: [item(`put:${index}`)],
          remove: [`insert:${index}`],
        }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(60)
    const counts = await Promise.all(each.map((index) => driverFor(index).incrementItem('count', { ttl: 60 })))
    expect(new Set(counts).size).toBe(120)
    const read = await Promise.all(each.map((index) => driverFor(index).getItem(`spent:${index % 60}`)))
    expect(read.every((value, index) => value === `of spent:${index % 60}`)).toBe(true)
    expect(await drivers[0]?.getKeys('put:')).toHaveLength(60)
  })

  test('a driver with prepared statements names the option', async () => {
    await expect(driverOf({ url: bouncer.url }).open()).rejects.toThrow(
      /refuses a parameter of the connection; behind a PgBouncer, set preparedStatements to false: .*statement_timeout/u,
    )
  })

  // Attack of one tenant on another, or an upgrade: the session has a prepared statement with the name of the other one.
  test('two drivers with prepared statements on one session: the second is refused, and no statement reaches another table', async () => {
    const shared = await start()
    await shared.query("ALTER ROLE postgres SET statement_timeout = '30s'")
    const bouncer = await startPgBouncer(shared, 1, { ignore_startup_parameters: 'statement_timeout, options' })
    try {
      const pair = ['first', 'second'].map((prefix) => driverOf({ url: bouncer.url, prefix, maxConnections: 1 }))
      const [first, second] = pair as [PostgresqlDriver, PostgresqlDriver]
      await first.setItem('code', 'of the first', { ttl: 60 })
      await expect(second.open()).rejects.toThrow('behind a PgBouncer, set preparedStatements to false')
      expect(await first.getItem('code')).toBe('of the first')
      const unprepared = { url: bouncer.url, preparedStatements: false, maxConnections: 1 }
      const [third, fourth] = ['first', 'second'].map((prefix) => driverOf({ ...unprepared, prefix })) as [
        PostgresqlDriver,
        PostgresqlDriver,
      ]
      await fourth.setItem('code', 'of the second', { ttl: 60 })
      expect(await third.getItem('code')).toBe('of the first')
      expect(await fourth.getItem('code')).toBe('of the second')
    } finally {
      await bouncer.stop()
    }
  })

  test('a session without a time limit for statements: open() rejects', async () => {
    const endless = await start()
    const bouncer = await startPgBouncer(endless, 1)
    try {
      const driver = driverOf({ url: bouncer.url, preparedStatements: false, maxConnections: 1 })
      const limits = [
        ['0', /has no statement_timeout for this user, so a write that has failed could be performed much later/u],
        ['10min', /has a statement_timeout of 600 s for this user/u],
      ] as const
      for (const [limit, sentence] of limits) {
        await endless.query(`ALTER ROLE postgres SET statement_timeout = '${limit}'`)
        await endless.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grantry'")
        await expect.poll(() => driver.open().catch(({ message }) => message)).toMatch(sentence)
      }
      await endless.query("ALTER ROLE postgres SET statement_timeout = '2s'")
      await endless.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grantry'")
      await expect.poll(() => driver.open().catch(({ message }) => message)).toBeUndefined()
    } finally {
      await bouncer.stop()
    }
  })

  // The connection to the PgBouncer stays open, so that a check of each new one does not notice it.
  test('a server that becomes a replica: reads and writes reject, and work again once it is the primary', async () => {
    const demoted = await start()
    await demoted.query("ALTER ROLE postgres SET statement_timeout = '30s'")
    const bouncer = await startPgBouncer(demoted, 1)
    try {
      const driver = driverOf({ url: bouncer.url, preparedStatements: false, maxConnections: 1 })
      await driver.setItem('key', 'x', { ttl: 600 })
      await demoted.kill()
      await writeFile(dataFile(demoted, 'standby.signal'), '')
      await demoted.restart()
      const isReadOnly = /database "postgres" is read-only: it is a replica, .*\(25006\)$/u
      const reads = [
        () => driver.getItem('key'),
        () => driver.getItem('absent'),
        () => driver.getItems([{ key: 'key' }, { key: 'absent' }]),
        () => driver.getKeys(),
        () => driver.insertItem('key', 'y', { ttl: 60 }),
        () => driver.incrementItem('count', { ttl: 60 }),
      ]
      const results: unknown[] = []
      for (const read of reads) {
        const refusal = () =>
          read().then(
            (result) => results.push(result),
            ({ message }) => message,
          )
        await expect.poll(refusal).toMatch(isReadOnly)
      }
      expect(results).toEqual([])
      await demoted.query('SELECT pg_promote()')
      await expect.poll(() => driver.getItem('key').catch(() => undefined)).toBe('x')
      expect(await driver.insertItem('key', 'y', { ttl: 60 })).toBe(false)
    } finally {
      await bouncer.stop()
    }
  })
}

describeWith(pgbouncerMissing, 'behind PgBouncer', define, describe)
