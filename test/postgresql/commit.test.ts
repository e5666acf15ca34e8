// A commit is one statement: all changes or none, and a lost race for a redemption writes nothing and causes no error.
import type { DriverChanges } from '@grantry/core'
import { beforeAll, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const item = (key: string, value = 'new', ttl = 60) => ({ key, value, ttl })

describeWithPostgresql('commit() of the PostgreSQL driver', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  let tables = 0
  beforeAll(async () => {
    server = await start({ settings: ['log_statement=all', 'deadlock_timeout=50ms'] })
  })
  function open(maxConnections = 10) {
    tables += 1
    return driverOf({ url: server.url, prefix: `table_${tables}`, maxConnections })
  }
  /** Returns the log that the server writes during an action. */
  async function logOf(act: () => Promise<unknown>): Promise<string> {
    const mark = async (marker: string): Promise<void> => {
      await server.query(`SELECT '${marker}'`)
      await expect.poll(() => server.log()).toContain(marker)
    }
    // Earlier lines can be on their way.
    await mark(`start ${server.log().length}`)
    const before = server.log().length
    await act()
    await mark(`end ${before}`)
    return server.log().slice(before)
  }
  const valuesOf = async (driver: ReturnType<typeof open>, ...keys: string[]) =>
    (await driver.getItems(keys.map((key) => ({ key })))).map(({ value }) => value)

  const changes: DriverChanges = {
    create: [item('spent:1')],
    put: [item('access:1'), item('refresh:1')],
    remove: ['gone', 'absent'],
  }

  test('performs all changes with one statement, and so does each other operation', async () => {
    const driver = open()
    await driver.setItem('gone', 'earlier', { ttl: 60 })
    await driver.setItem('access:1', 'earlier', { ttl: 60 })
    const log = await logOf(() => driver.commit(changes))
    expect(log.match(/execute grantry_(?!sweep)[a-z]+/gu)).toEqual(['execute grantry_commit'])
    expect(log).not.toMatch(/BEGIN/u)
    expect(await valuesOf(driver, 'spent:1', 'access:1', 'refresh:1', 'gone')).toEqual(['new', 'new', 'new', null])
    const others = await logOf(async () => {
      await Promise.all([
        driver.getItem('a'),
        driver.incrementItem('b', { ttl: 60 }),
        driver.incrementItem('b', { ttl: 60 }),
      ])
      await Promise.all([driver.getItem('a'), driver.getItems([{ key: 'b' }, { key: 'c' }])])
      await driver.insertItem('d', 'x', { ttl: 60 })
    })
    expect(others.match(/execute grantry_(?!sweep)[a-z]+/gu)).toEqual([
      'execute grantry_count',
      'execute grantry_read',
      'execute grantry_write',
    ])
  })

  test('changes nothing if an item exists, and replaces an expired one', async () => {
    const driver = open()
    await driver.setItem('spent:1', 'earlier', { ttl: 60 })
    await driver.setItem('gone', 'earlier', { ttl: 60 })
    expect(await driver.commit(changes)).toEqual(['spent:1'])
    expect(await valuesOf(driver, 'spent:1', 'access:1', 'gone')).toEqual(['earlier', null, 'earlier'])
    await server.query(`UPDATE table_${tables}_items SET ends = now() WHERE value = 'earlier'`)
    expect(await driver.commit(changes)).toBe(true)
    expect(await valuesOf(driver, 'spent:1', 'access:1', 'gone')).toEqual(['new', 'new', null])
  })

  test('returns each key of several that exists, and needs none to create', async () => {
    const driver = open()
    for (const key of ['b', 'd']) await driver.setItem(key, 'earlier', { ttl: 60 })
    const create = ['a', 'b', 'c', 'd'].map((key) => item(key))
    expect(new Set((await driver.commit({ create, put: [], remove: [] })) as string[])).toEqual(new Set(['b', 'd']))
    expect(await driver.commit({ create: [], put: [item('a')], remove: ['b', 'd'] })).toBe(true)
    expect(await valuesOf(driver, 'a', 'b', 'd')).toEqual(['new', null, null])
    expect(await driver.commit({ create: [], put: [], remove: [] })).toBe(true)
  })

  test('of one marker is won by one of many, without an error in the log of the server', async () => {
    const drivers = [open(), driverOf({ url: server.url, prefix: `table_${tables}` })]
    const log = await logOf(async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          drivers[index % 2]?.commit({
            create: [item('spent:1', `${index}`)],
            put: [item(`access:${index}`)],
            remove: [],
          }),
        ),
      )
      const winners = outcomes.flatMap((outcome, index) => (outcome === true ? [index] : []))
      expect(winners).toHaveLength(1)
      expect(new Set(outcomes.filter((outcome) => outcome !== true).flat())).toEqual(new Set(['spent:1']))
      expect((await drivers[0]?.getKeys())?.sort()).toEqual([`access:${winners[0]}`, 'spent:1'].sort())
    })
    expect(log).not.toMatch(/ERROR/u)
  })

  // Whatever one of them has written is undone: by an error in the statement, or because of a deadlock.
  test('of several items that other commits create, too, is performed completely or not at all', async () => {
    const driver = open()
    for (let round = 0; round < 20; round += 1) {
      const keys = Array.from({ length: 6 }, (_, index) => `spent:${round}:${index}`)
      const written = Array.from({ length: 24 }, (_, index) => `own:${round}:${index}`)
      const createdBy = (index: number) => [keys[index % 6], keys[(index * 5 + 1) % 6]] as [string, string]
      const outcomes = await Promise.all(
        written.map((key, index) => {
          const create = [...new Set(createdBy(index))].map((created) => item(created, key))
          // Each also writes what another one removes.
          return driver.commit({ create, put: [item(key)], remove: [written[(index + 1) % 24] as string] })
        }),
      )
      const winners = written.filter((_, index) => outcomes[index] === true)
      const stored = new Map(
        (await driver.getItems(keys.map((key) => ({ key })))).map(({ key, value }) => [key, value]),
      )
      for (const [index, key] of written.entries()) {
        for (const created of createdBy(index)) {
          if (winners.includes(key)) expect(stored.get(created)).toBe(key)
          else expect(stored.get(created)).not.toBe(key)
        }
      }
      expect(winners.length).toBeGreaterThan(0)
    }
  })

  test('rejects if the server cannot write, and writes nothing', async () => {
    const driver = open()
    await driver.open()
    await server.query(`ALTER TABLE table_${tables}_items ADD CONSTRAINT short CHECK (length(value) < 100)`)
    const put = [item('access:1'), item('refresh:1', 'the-value'.repeat(20))]
    const refused = driver.commit({ ...changes, put })
    await expect(refused).rejects.toThrow(/returned an error: 23514$/u)
    await expect(refused).rejects.not.toThrow('the-value')
    expect(await driver.getKeys()).toEqual([])
  })

  test('counts in one statement with the reads of the turn, and a damaged counter fails alone', async () => {
    const driver = open()
    await driver.setItem('damaged', 'not a number', { ttl: 60 })
    const [damaged, first, second, item1] = await Promise.allSettled([
      driver.incrementItem('damaged', { ttl: 60 }),
      driver.incrementItem('count', { ttl: 60 }),
      driver.incrementItem('count', { ttl: 60 }),
      driver.getItem('damaged'),
    ])
    expect(damaged).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('is not a counter') },
    })
    expect([first, second, item1]).toMatchObject([{ value: 1 }, { value: 2 }, { value: 'not a number' }])
    await server.query(`UPDATE table_${tables}_items SET ends = now() WHERE value = '2'`)
    expect(await driver.incrementItem('count', { ttl: 60 })).toBe(1)
  })
})
