// Expired rows are removed in steps, by several processes at the same time, and never by a read.
import pg from 'pg'
import { beforeAll, expect, test, vi } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

describeWithPostgresql('expired rows in PostgreSQL', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  beforeAll(async () => {
    server = await start()
  })
  const countOf = async (table: string, condition = 'true') =>
    Number((await server.query(`SELECT count(*) FROM ${table} WHERE ${condition}`))[0]?.count)
  const fill = (table: string, count: number, ends: string) =>
    server.query(
      `INSERT INTO ${table} SELECT decode(md5('${ends}' || n), 'hex'), 'x', now() + interval '${ends}' FROM generate_series(1, ${count}) n`,
    )

  test('are removed by several processes, which keep the others', async () => {
    const drivers = Array.from({ length: 4 }, () => driverOf({ url: server.url, prefix: 'several' }))
    await drivers[0]?.open()
    await fill('several_items', 7500, '-10 minutes')
    await fill('several_items', 500, '10 minutes')
    await Promise.all(drivers.map((driver) => driver.open()))
    await expect.poll(() => countOf('several_items')).toBe(501)
    const states = drivers.map((driver) => driver.sweepState())
    expect(states.reduce((sum, { removed }) => sum + removed, 0)).toBe(7500)
    expect(Math.max(...states.map(({ age }) => age))).toBeGreaterThanOrEqual(0)
    // The row of the version stays.
    await driverOf({ url: server.url, prefix: 'several' }).open()
  })

  test('do not block the steps while other transactions hold some of them', async () => {
    const creator = driverOf({ url: server.url, prefix: 'held' })
    await creator.open()
    await creator.dispose()
    await fill('held_items', 200, '-10 minutes')
    const holder = new pg.Client({ connectionString: server.url })
    await holder.connect()
    try {
      // The transaction has half of the rows before a process sweeps.
      await holder.query('BEGIN')
      await holder.query("SELECT 1 FROM held_items WHERE value = 'x' ORDER BY key LIMIT 100 FOR UPDATE")
      await driverOf({ url: server.url, prefix: 'held' }).open()
      await expect.poll(() => countOf('held_items', "value = 'x'")).toBe(100)
      await holder.query('ROLLBACK')
      await expect.poll(() => countOf('held_items', "value = 'x'")).toBe(0)
    } finally {
      await holder.end()
    }
  })

  test('are not removed by reads, and are absent to every operation', async () => {
    const driver = driverOf({ url: server.url, prefix: 'reads' })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await driver.setItem('key', 'x', { ttl: 60 })
      await server.query("UPDATE reads_items SET ends = now() WHERE value = 'x'")
      expect([await driver.getItem('key'), await driver.hasItem('key'), await driver.getKeys()]).toEqual([
        null,
        false,
        [],
      ])
      expect([await driver.countItems(), await countOf('reads_items', "value = 'x'")]).toEqual([0, 1])
      expect(await driver.insertItem('key', 'y', { ttl: 60 })).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  test('cause one warning when they cannot be removed', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    try {
      const driver = driverOf({ url: server.url, prefix: 'denied' })
      await driver.open()
      await server.query('DROP TABLE denied_items')
      await expect.poll(() => warned.mock.calls.length).toBe(1)
      expect(String(warned.mock.calls[0]?.[0])).toMatch(/^Cannot remove expired items in PostgreSQL at .*42P01/u)
    } finally {
      warned.mockRestore()
    }
  })
})
