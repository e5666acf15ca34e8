// Settings of the database or its table with which an operation would fail, or miss an item, without an error.
import { beforeAll, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

describeWithPostgresql('settings of a PostgreSQL database', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  beforeAll(async () => {
    server = await start()
  })

  test('bytea_output = escape: items are found', async () => {
    await server.query('CREATE DATABASE escaped')
    await server.query("ALTER DATABASE escaped SET bytea_output = 'escape'")
    const driver = driverOf({ url: server.urlOf('escaped') })
    await driver.setItem('revoked', '{}', { ttl: 60 })
    expect(await driver.getItem('revoked')).toBe('{}')
    expect(await driver.incrementItem('counter', { ttl: 60 })).toBe(1)
    const create = [{ key: 'revoked', value: '', ttl: 60 }]
    expect(await driver.commit({ create, put: [], remove: [] })).toEqual(['revoked'])
    expect((await driver.getKeys()).sort()).toEqual(['counter', 'revoked'])
  })

  test('a date style and a time zone: all expired rows are removed', async () => {
    await server.query('CREATE DATABASE styled')
    await server.query("ALTER DATABASE styled SET timezone = 'Asia/Jakarta'")
    await server.query("ALTER DATABASE styled SET datestyle = 'SQL, DMY'")
    await server.query('ALTER DATABASE styled SET extra_float_digits = -15')
    const driver = driverOf({ url: server.urlOf('styled') })
    await driver.open()
    const expired = `INSERT INTO grantry_items SELECT decode(md5(n::text), 'hex'), 'x', now() - interval '10 hours' + n * interval '1 second' FROM generate_series(1, 2500) n`
    await server.query(expired, undefined, 'styled')
    const left = async () => (await server.query('SELECT count(*) FROM grantry_items', undefined, 'styled'))[0]?.count
    await expect.poll(left).toBe('1')
  })

  test('row level security: open() rejects', async () => {
    const open = () => driverOf({ url: server.url, prefix: 'hidden' }).open()
    await open()
    await server.query('ALTER TABLE hidden_items ENABLE ROW LEVEL SECURITY')
    await expect(open()).rejects.toThrow('has row level security on "public"."hidden_items"')
  })

  test('an unlogged table: open() rejects, unless durability is relaxed', async () => {
    const options = { url: server.url, prefix: 'unlogged' }
    await driverOf(options).open()
    await server.query('ALTER TABLE unlogged_items SET UNLOGGED')
    await expect(driverOf(options).open()).rejects.toThrow(
      'loses the unlogged table "public"."unlogged_items" in a crash',
    )
    await driverOf({ ...options, durability: 'relaxed' }).open()
  })

  test('a view: open() rejects', async () => {
    await driverOf({ url: server.url, prefix: 'seen' }).open()
    await server.query('CREATE VIEW view_items AS SELECT * FROM seen_items')
    await expect(driverOf({ url: server.url, prefix: 'view' }).open()).rejects.toThrow('is not a table of this driver')
  })

  test('a default isolation level: concurrent first starts create the table', async () => {
    for (const level of ['repeatable read', 'serializable']) {
      const name = `isolated_${level.length}`
      await server.query(`CREATE DATABASE ${name}`)
      await server.query(`ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`)
      const drivers = Array.from({ length: 6 }, () => driverOf({ url: server.urlOf(name), schema: 'identity' }))
      await Promise.all(drivers.map((driver) => driver.open()))
    }
  })

  test('an owner of the schema without CREATE on the database creates the table', async () => {
    await server.query("CREATE ROLE narrow LOGIN PASSWORD 'p'")
    await server.query('CREATE DATABASE narrow')
    await server.query('CREATE SCHEMA identity AUTHORIZATION narrow', undefined, 'narrow')
    await driverOf({ url: server.urlOf('narrow', 'narrow', 'p'), schema: 'identity' }).open()
  })

  test('default_transaction_read_only for new connections: reads reject', async () => {
    await server.query('CREATE DATABASE demoted')
    const driver = driverOf({ url: server.urlOf('demoted') })
    await driver.setItem('key', 'x', { ttl: 60 })
    await server.query('ALTER DATABASE demoted SET default_transaction_read_only = on')
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'demoted'")
    await expect
      .poll(() => driver.getItem('key').catch((error) => error.message))
      .toMatch(/is read-only: it is a replica, .*\(25006\)$/u)
  })

  test('a failing password function: its error is not quoted', async () => {
    const password = () => Promise.reject(new Error('the-secret'))
    const opening = driverOf({ url: server.url, connection: { password } }).open()
    await expect(opening).rejects.toThrow(/the function connection.password failed$/u)
  })
})
