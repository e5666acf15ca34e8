// Plans that PostgreSQL keeps for a prepared statement must stay fast when the table has changed since.
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

interface Plan {
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const removedByFilters = (plan: Plan): number =>
  (plan.Plans ?? []).reduce((sum, each) => sum + removedByFilters(each), plan['Rows Removed by Filter'] ?? 0)

describeWithPostgresql('kept plans', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  beforeAll(async () => {
    server = await start()
  })

  async function createTable(prefix: string): Promise<void> {
    const driver = driverOf({ url: server.url, prefix })
    await driver.open()
    await driver.dispose()
    await server.query(`ALTER TABLE ${prefix}_items SET (autovacuum_enabled = off)`)
  }
  const fill = (prefix: string, count: number, ends: string) =>
    server.query(
      `INSERT INTO ${prefix}_items SELECT sha256(('${ends}' || n)::bytea), 'x', now() + interval '${ends}' FROM generate_series(1, ${count}) n`,
    )

  test('of reads, made when the table was small, do not read the whole table when it is large', async () => {
    await createTable('grown')
    await server.query('ANALYZE grown_items')
    const driver = driverOf({ url: server.url, prefix: 'grown', maxConnections: 1 })
    // PostgreSQL keeps a plan from the sixth time on.
    for (let time = 0; time < 7; time += 1) await driver.getItems([{ key: 'a' }, { key: 'b' }])
    await fill('grown', 5000, '1 hour')
    const scans = async () =>
      Number(
        (await server.query("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'grown_items'"))[0]?.seq_scan,
      )
    const before = await scans()
    for (let time = 0; time < 20; time += 1) await driver.getItems([{ key: 'a' }, { key: 'b' }])
    await driver.dispose()
    // A session reports its numbers when it ends.
    await expect
      .poll(() => server.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'grantry'"))
      .toEqual([])
    expect(await scans()).toBe(before)
  })

  test('of the sweeper, made when nothing had expired, do not compare each expired row with each to remove', async () => {
    await createTable('swept')
    await fill('swept', 2000, '1 hour')
    await server.query('ANALYZE swept_items')
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      await client.query('SET plan_cache_mode = force_generic_plan')
      const { sweep } = statementsOf({ schema: 'public', prefix: 'swept' })
      await client.query({ ...sweep, values: [1000, '-infinity', 10] })
      await fill('swept', 5000, '-1 hour')
      const { rows } = await client.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${sweep.name}" (1000, '-infinity', 10)`,
      )
      expect(removedByFilters(rows[0]['QUERY PLAN'][0].Plan)).toBe(0)
    } finally {
      await client.end()
    }
  })
})
