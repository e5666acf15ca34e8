// open() rejects a server or a table that is unsuitable, with a sentence that says what to do, and works once it is.
import { writeFile } from 'node:fs/promises'
import { postgresqlMigration } from '@grantry/storage-drivers/postgresql'
import { beforeAll, describe, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { dataFile, type PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { reservedPort } from '../support/reserved-port.ts'

describeWithPostgresql('open() of the PostgreSQL driver', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  beforeAll(async () => {
    server = await start()
  })

  /** Creates a user with a database. */
  async function newUser(name: string): Promise<string> {
    await server.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret-of-${name}'`)
    await server.query(`CREATE DATABASE ${name}`)
    return server.urlOf(name, name, `secret-of-${name}`)
  }

  test('rejects while the server is unreachable', async () => {
    const port = await reservedPort()
    const driver = driverOf({ url: `postgresql://a:the-password@127.0.0.1:${port}/tokens` })
    const sentence = `PostgreSQL at 127.0.0.1:${port}, database "tokens" is not available: connect ECONNREFUSED`
    await expect(driver.open()).rejects.toThrow(`storage: ${sentence}`)
    await expect(driver.getItem('key')).rejects.toThrow('ECONNREFUSED')
  })

  test('rejects a wrong password, no password, and a wrong database, without a secret in the message', async () => {
    const at = (database: string, user: string, password: string) =>
      driverOf({ url: server.urlOf(database, user, password) })
    const wrong = at('postgres', 'postgres', 'not-the-password').open()
    await expect(wrong).rejects.toThrow(/database "postgres" refuses the password or the user: .* \(28P01\)$/u)
    await expect(wrong).rejects.not.toThrow('not-the-password')
    await expect(at('postgres', 'postgres', '').open()).rejects.toThrow('password')
    await expect(at('absent', 'postgres', 'the-password').open()).rejects.toThrow('has no such database; create it')
  })

  test('takes the password from a function, for each connection', async () => {
    let calls = 0
    const password = async (): Promise<string> => {
      calls += 1
      return 'the-password'
    }
    const url = server.urlOf('postgres', 'postgres', 'another')
    const driver = driverOf({ url, connection: { password }, prefix: 'of_function' })
    await Promise.all(Array.from({ length: 5 }, () => driver.setItem('key', 'x', { ttl: 60 })))
    expect(calls).toBeGreaterThan(0)
  })

  test('creates the table once for many processes', async () => {
    const drivers = Array.from({ length: 8 }, () => driverOf({ url: server.url, schema: 'of_many' }))
    await Promise.all(drivers.map((driver) => driver.open()))
    expect(await server.query('SELECT value, ends FROM of_many.grantry_items')).toEqual([
      { value: '1', ends: Number.POSITIVE_INFINITY },
    ])
  })

  test('names the right that is missing to create the table, and works after the migration', async () => {
    const url = await newUser('poor')
    // Before PostgreSQL 15, every user may create tables in this schema.
    await server.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC', undefined, 'poor')
    const driver = driverOf({ url })
    await expect(driver.open()).rejects.toThrow(
      'has no table "public"."grantry_items", and this user may not create it; run "grantry storage migrate" as the owner of the database or of schema public, or grant CREATE on that schema',
    )
    await expect(driverOf({ url, migrate: false }).open()).rejects.toThrow(
      'run "grantry storage migrate", or set migrate',
    )
    await server.query(postgresqlMigration(), undefined, 'poor')
    await expect(driver.open()).rejects.toThrow('gives this user no right to SELECT, INSERT, UPDATE, DELETE on')
    await server.query('GRANT SELECT, INSERT ON grantry_items TO poor', undefined, 'poor')
    await expect(driver.open()).rejects.toThrow(
      'gives this user no right to UPDATE, DELETE on "public"."grantry_items"',
    )
    await server.query('GRANT UPDATE, DELETE ON grantry_items TO poor', undefined, 'poor')
    await driver.open()
    expect(await driver.insertItem('key', 'x', { ttl: 60 })).toBe(true)
    // A right that is taken away later.
    await server.query('REVOKE INSERT ON grantry_items FROM poor', undefined, 'poor')
    await expect(driver.setItem('key', 'the-value', { ttl: 60 })).rejects.toThrow(
      /gives this user too few rights: .*42501/u,
    )
    await server.query('GRANT INSERT ON grantry_items TO poor', undefined, 'poor')
    await driver.setItem('key', 'y', { ttl: 60 })
  })

  test('rejects a table of a newer version, and one of another program', async () => {
    const url = server.urlOf('postgres')
    await driverOf({ url, prefix: 'newer' }).open()
    await server.query("UPDATE newer_items SET value = '2' WHERE key = ''")
    await expect(driverOf({ url, prefix: 'newer' }).open()).rejects.toThrow(
      'has the table "public"."newer_items" in version 2, which is newer than this driver (1); update it',
    )
    await server.query('CREATE TABLE foreign_items (id integer)')
    await expect(driverOf({ url, prefix: 'foreign' }).open()).rejects.toThrow(
      'has a table "public"."foreign_items" that is not one of this driver; set another prefix or schema',
    )
  })

  test('rejects a database with another encoding', async () => {
    await server.query("CREATE DATABASE western ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    await expect(driverOf({ url: server.urlOf('western') }).open()).rejects.toThrow(
      'has the encoding LATIN1, which cannot store all text; create a database with UTF8',
    )
  })

  test('rejects a server that can lose confirmed writes, unless that is stated', async () => {
    const url = await newUser('hasty')
    await server.query('ALTER ROLE hasty SET synchronous_commit = off')
    await server.query('GRANT CREATE ON SCHEMA public TO hasty', undefined, 'hasty')
    await expect(driverOf({ url }).open()).rejects.toThrow(
      'has synchronous_commit = off, so a crash could lose the marker of a redeemed code, which then works twice; set synchronous_commit = on, or the option durability to relaxed',
    )
    await driverOf({ url, durability: 'relaxed' }).open()
  })

  test('rejects after dispose()', async () => {
    const driver = driverOf({ url: server.url, prefix: 'disposed' })
    await driver.open()
    await driver.dispose()
    await expect(driver.getItem('key')).rejects.toThrow('was disposed of')
    await expect(driver.insertItem('key', 'x', { ttl: 60 })).rejects.toThrow('was disposed of')
  })

  describe('with a server of its own', () => {
    test('rejects a replica, and a server that becomes one', async () => {
      const primary = await start()
      const driver = driverOf({ url: primary.url })
      await driver.setItem('key', 'x', { ttl: 60 })
      await primary.kill()
      await writeFile(dataFile(primary, 'standby.signal'), '')
      await primary.restart()
      await expect(driverOf({ url: primary.url }).open()).rejects.toThrow('is read-only: it is a replica')
      const refusal = () => driver.setItem('key', 'y', { ttl: 60 }).catch(({ message }) => message)
      await expect.poll(refusal).toMatch(/database "postgres" is read-only: it is a replica, .*\(25006\)$/u)
      await primary.query('SELECT pg_promote()')
      await expect.poll(refusal).toBeUndefined()
    })

    test('rejects a server without fsync', async () => {
      const hasty = await start({ settings: ['fsync=off'] })
      await expect(driverOf({ url: hasty.url }).open()).rejects.toThrow('has fsync = off')
    })
  })
})
