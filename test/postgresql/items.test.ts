// Items in PostgreSQL: expiry, names, values, and several tables in one database.
import { inspect } from 'node:util'
import type { ListedItem } from '@grantry/storage-drivers/copy'
import { beforeAll, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

describeWithPostgresql('an item in PostgreSQL', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  let tables = 0
  beforeAll(async () => {
    server = await start()
  })
  /** A driver with a table of its own. */
  function open(name?: string) {
    tables += 1
    const prefix = name ?? `table_${tables}`
    return { driver: driverOf({ url: server.url, prefix }), table: `${prefix}_items` }
  }
  /** Seconds until the end of the only item. */
  async function lifeOf(table: string): Promise<number> {
    const sql = `SELECT extract(epoch FROM ends) - extract(epoch FROM now()) AS life FROM ${table} WHERE key <> ''`
    return Number((await server.query(sql))[0]?.life)
  }

  test('is set, read, checked and removed', async () => {
    const { driver } = open()
    expect([await driver.getItem('code:1'), await driver.hasItem('code:1')]).toEqual([null, false])
    await driver.setItem('code:1', 'one', { ttl: 60 })
    await driver.setItem('code:1', 'two', { ttl: 60 })
    expect([await driver.getItem('code:1'), await driver.hasItem('code:1')]).toEqual(['two', true])
    await driver.removeItem('code:1')
    await driver.removeItem('code:1')
    expect([await driver.getItem('code:1'), await driver.hasItem('code:1')]).toEqual([null, false])
  })

  test('is inserted once, and a second insert changes neither its value nor its expiry', async () => {
    const { driver, table } = open()
    expect(await driver.insertItem('spent:1', 'first', { ttl: 60 })).toBe(true)
    expect(await driver.insertItem('spent:1', 'second', { ttl: 6000 })).toBe(false)
    expect(await driver.getItem('spent:1')).toBe('first')
    expect(await lifeOf(table)).toBeLessThanOrEqual(60)
  })

  test.each([0.0001, 1.5, 60, 400 * 86_400, 9e9])('lives for %f s by the clock of the database', async (ttl) => {
    const { driver, table } = open()
    await driver.setItem('set', 'x', { ttl })
    const life = await lifeOf(table)
    expect(life).toBeLessThanOrEqual(ttl)
    expect(life).toBeGreaterThan(ttl - 120)
  })

  test.each([undefined, Number.POSITIVE_INFINITY, 1e300, Number.MAX_VALUE])(
    'never expires with a ttl of %s',
    async (ttl) => {
      const { driver, table } = open()
      await driver.setItem('key', 'x', { ttl: 60 })
      await driver.setItem('key', 'y', { ttl })
      expect(await lifeOf(table)).toBe(Number.POSITIVE_INFINITY)
      if (ttl !== undefined) expect(await driver.insertItem('key', 'z', { ttl })).toBe(false)
    },
  )

  test.each([0, -1, -1e300, Number.NEGATIVE_INFINITY])('is removed when it is set with a ttl of %s s', async (ttl) => {
    const { driver } = open()
    await driver.setItem('key', 'earlier')
    await driver.setItem('key', 'over', { ttl })
    expect(await driver.getItem('key')).toBeNull()
    await expect(driver.insertItem('key', 'over', { ttl })).rejects.toThrow('give more than 0')
    await expect(driver.incrementItem('key', { ttl })).rejects.toThrow('must be more than 0')
    const items = [{ key: 'key', value: 'over', ttl }]
    await expect(driver.commit({ create: items, put: [], remove: [] })).rejects.toThrow('give more than 0')
    expect(await driver.getItem('key')).toBeNull()
  })

  test('is rejected with a ttl that is not a number', async () => {
    const { driver } = open()
    const ttl = Number.NaN
    await expect(driver.setItem('key', 'x', { ttl })).rejects.toThrow('not a number')
    await expect(driver.insertItem('key', 'x', { ttl })).rejects.toThrow('not a number')
    await expect(driver.incrementItem('key', { ttl })).rejects.toThrow('The ttl of a counter')
    expect(await driver.getKeys()).toEqual([])
  })

  // PostgreSQL cannot store U+0000, and a lone surrogate would become another character.
  test.each(['the-value \0', 'the-value \ud800', 'the-value \udc00\ud800'])(
    'with the value %j is rejected',
    async (value) => {
      const { driver } = open()
      const items = [{ key: 'b', value, ttl: 60 }]
      const good = [{ key: 'a', value: 'x', ttl: 60 }]
      for (const writing of [
        driver.setItem('key', value, { ttl: 60 }),
        driver.insertItem('key', value, { ttl: 60 }),
        driver.commit({ create: good, put: items, remove: [] }),
      ]) {
        const error = await writing.then(
          () => expect.fail('it was taken'),
          (thrown: unknown) => thrown,
        )
        expect(error).toMatchObject({ message: expect.stringContaining('U+0000 or a lone surrogate') })
        expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('the-value')
      }
      expect(await driver.getKeys()).toEqual([])
    },
  )

  test('keeps every other value, also in a commit', async () => {
    const { driver } = open()
    const values = [
      '',
      '\\',
      '"',
      '{"a","b"}',
      'NULL',
      '\\x00',
      "'; DROP TABLE grantry_items; --",
      '$1',
      '\u2028\r\n\t',
      '😀é',
    ]
    values.push('x'.repeat(3_000_000), '"\\'.repeat(100_000))
    const items = values.map((value, index) => ({ key: `key ${index}`, value, ttl: 60 }))
    const [first, ...others] = items
    expect(await driver.commit({ create: first ? [first] : [], put: others, remove: [] })).toBe(true)
    const stored = await driver.getItems(items)
    expect(stored.every(({ value }, index) => value === values[index])).toBe(true)
  })

  test('has a name of its own for any key, or is rejected', async () => {
    const { driver } = open()
    const keys = [
      'a b',
      'a?',
      'a$',
      'é',
      'e\u0301',
      '🔑',
      'a{b}',
      'a%',
      'a*',
      'a\\',
      'a\0',
      ' ',
      '',
      ':',
      'A',
      'a',
      "'",
      '"',
    ]
    for (const [index, key] of keys.entries()) expect(await driver.insertItem(key, `${index}`, { ttl: 60 })).toBe(true)
    for (const [index, key] of keys.entries()) expect(await driver.getItem(key)).toBe(`${index}`)
    expect((await driver.getKeys()).sort()).toEqual([...keys].sort())
    expect(await driver.getKeys('a')).toHaveLength(9)
    await expect(driver.getItem('\ud800')).rejects.toThrow('not well-formed Unicode')
    await expect(driver.insertItem('x'.repeat(2000), '', { ttl: 60 })).rejects.toThrow('the maximum is 1024')
    await driver.clear('a')
    expect(await driver.getKeys()).toHaveLength(keys.length - 9)
  })

  test('is listed once, counted and cleared, among thousands', async () => {
    const { driver } = open()
    const keys = Array.from({ length: 1700 }, (_, index) => `key:${index}`)
    const put = keys.map((key) => ({ key, value: `of ${key}`, ttl: 60 }))
    await driver.commit({ create: [], put, remove: [] })
    await driver.setItem('endless', 'x')
    expect((await driver.getKeys()).sort()).toEqual([...keys, 'endless'].sort())
    expect(await driver.countItems()).toBe(1701)
    const listed: ListedItem[] = []
    for await (const batch of driver.listItems()) listed.push(...batch)
    expect(new Map(listed.map(({ key, value }) => [key, value]))).toEqual(
      new Map([...put.map(({ key, value }) => [key, value] as const), ['endless', 'x']]),
    )
    expect(listed.find(({ key }) => key === 'endless')?.endsAt).toBe(Number.POSITIVE_INFINITY)
    expect(listed.find(({ key }) => key === 'key:1')?.endsAt).toBeLessThanOrEqual(Date.now() + 60_000)
    await driver.clear()
    expect(await driver.countItems()).toBe(0)
    // The row of the version stays.
    await driverOf({ url: server.url, prefix: `table_${tables}` }).open()
  })

  test('of one prefix or schema is not seen with another', async () => {
    const [first, second] = [open('first').driver, open('first_items').driver]
    const third = driverOf({ url: server.url, schema: 'elsewhere', prefix: 'first' })
    await first.setItem('key', 'of one', { ttl: 60 })
    expect([await second.getItem('key'), await third.getItem('key')]).toEqual([null, null])
    expect(await third.insertItem('key', 'of the third', { ttl: 60 })).toBe(true)
    await first.clear()
    expect([await first.getKeys(), await third.getKeys()]).toEqual([[], ['key']])
  })
})
