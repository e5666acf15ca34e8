// Behind a PgBouncer in transaction mode, each statement can reach another session of the server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const define = (): void => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let bouncer: PgBouncer
  beforeAll(async () => {
    bouncer = await startPgBouncer(await start(), 3)
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
}

describeWith(pgbouncerMissing, 'behind PgBouncer', define, describe)
