// Writes of one turn of the event loop share a statement, but not their fate: each redemption is won or lost by itself, and
// one that PostgreSQL refuses fails alone.
import type { PostgresqlDriver } from '@grantry/storage-drivers/postgresql'
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const item = (key: string, value = key) => ({ key, value, ttl: 60 })

describeWithPostgresql('writes of the PostgreSQL driver', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  let tables = 0
  beforeAll(async () => {
    server = await start({
      settings: ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track_planning=on'],
    })
    await server.query('CREATE EXTENSION pg_stat_statements')
  })

  async function open(maxConnections = 10): Promise<PostgresqlDriver> {
    tables += 1
    const driver = driverOf({ url: server.url, prefix: `table_${tables}`, maxConnections })
    await driver.open()
    return driver
  }

  /** Returns how many statements have written items of the current table. */
  async function writes(): Promise<unknown> {
    const written = `%INSERT INTO "public"."table_${tables}_items" AS item%`
    const text = 'SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_statements WHERE query LIKE $1'
    return (await server.query(text, [written]))[0]?.calls
  }

  const valuesOf = async (driver: PostgresqlDriver, ...keys: string[]) =>
    (await driver.getItems(keys.map((key) => ({ key })))).map(({ value }) => value)

  const redemption = (driver: PostgresqlDriver, marker: string, token: string) =>
    driver.commit({ create: [item(marker)], put: [item(token), item(`${token}:refresh`)], remove: [] })

  test('of one turn are one statement; a redemption that has lost stores nothing', async () => {
    const driver = await open()
    await driver.insertItem('spent:1', 'earlier', { ttl: 60 })
    const outcomes = await Promise.all([
      redemption(driver, 'spent:1', 'lost'),
      redemption(driver, 'spent:2', 'won'),
      driver.commit({ create: [], put: [item('a'), item('b')], remove: [] }),
      driver.setItem('c', 'c'),
      driver.insertItem('d', 'd', { ttl: 60 }),
    ])
    expect(outcomes).toEqual([['spent:1'], true, true, undefined, true])
    expect(await valuesOf(driver, 'spent:1', 'lost', 'lost:refresh')).toEqual(['earlier', null, null])
    expect(await valuesOf(driver, 'spent:2', 'won', 'won:refresh')).toEqual(['spent:2', 'won', 'won:refresh'])
    expect(await valuesOf(driver, 'a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c', 'd'])
    expect(await writes()).toBe(2)
  })

  test('of the same key are different statements, of which one creates it', async () => {
    const driver = await open()
    const outcomes = await Promise.all(['x', 'y', 'z'].map((token) => redemption(driver, 'spent:1', token)))
    const winners = ['x', 'y', 'z'].filter((_, index) => outcomes[index] === true)
    expect(winners).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome !== true)).toEqual([['spent:1'], ['spent:1']])
    expect((await valuesOf(driver, 'x', 'y', 'z')).filter((value) => value !== null)).toEqual(winners)
    expect(await writes()).toBe(3)
  })

  test('replace an expired marker, and only that', async () => {
    const driver = await open()
    await Promise.all([driver.insertItem('spent:1', 'earlier', { ttl: 60 }), driver.setItem('spent:2', 'earlier')])
    await server.query(`UPDATE table_${tables}_items SET ends = now() WHERE value = 'earlier' AND ends < 'infinity'`)
    const outcomes = await Promise.all([redemption(driver, 'spent:1', 'x'), redemption(driver, 'spent:2', 'y')])
    expect(outcomes).toEqual([true, ['spent:2']])
  })

  test('that PostgreSQL refuses fail alone', async () => {
    const driver = await open()
    await server.query(`ALTER TABLE table_${tables}_items ADD CONSTRAINT short CHECK (length(value) < 100)`)
    const [refused, ...others] = await Promise.allSettled([
      driver.commit({ create: [item('spent:1')], put: [item('a'), item('b', 'b'.repeat(200))], remove: [] }),
      redemption(driver, 'spent:2', 'won'),
      driver.insertItem('c', 'c', { ttl: 60 }),
    ])
    expect(refused).toMatchObject({ reason: { message: expect.stringContaining('23514') } })
    expect(others).toEqual([
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: true },
    ])
    expect(await valuesOf(driver, 'spent:1', 'a', 'b', 'won', 'c')).toEqual([null, null, null, 'won', 'c'])
  })

  // PostgreSQL would plan them for each call, because of the number of keys.
  test('and reads are planned once for a connection', async () => {
    const driver = await open(1)
    for (let count = 0; count < 10; count += 1) {
      await driver.getItem('a')
      await driver.commit({ create: [item(`spent:${count}`), item(`used:${count}`)], put: [], remove: ['a'] })
    }
    const planned = 'SELECT plans::int, calls::int FROM pg_stat_statements WHERE query LIKE $1 AND calls >= 10'
    const statements = await server.query(planned, [`%"table_${tables}_items"%WHERE key = ANY%`])
    expect(statements).toEqual([
      { plans: 1, calls: 10 },
      { plans: 1, calls: 10 },
    ])
  })

  // A plan for each call took as long as all of the rest. A plan that is kept must not depend on the size of the table.
  test('are planned once for a connection, and find rows only by the primary key', async () => {
    await open()
    const { write } = statementsOf({ schema: 'public', prefix: `table_${tables}` })
    const values = ['{"\\\\x01"}', '{v}', '{60}', '{"\\\\x02","\\\\x03"}', '{v,v}', '{60,60}', '{"\\\\x01","\\\\x"}']
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      for (let count = 0; count < 8; count += 1) await client.query({ ...write, values })
      const counts = 'SELECT generic_plans::int, custom_plans::int FROM pg_prepared_statements WHERE name = $1'
      expect((await client.query(counts, [write.name])).rows).toEqual([{ generic_plans: 3, custom_plans: 5 }])
      const { rows } = await client.query(`EXPLAIN EXECUTE ${write.name} (${values.map((each) => `'${each}'`)})`)
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toMatch(/(?:Seq|Index|Bitmap) .*_items/u)
    } finally {
      await client.end()
    }
  })
})
