// A SQL storage that cannot be used ends the start of the server with one line, which says what to do.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory } from '../support/server-program.ts'
import { printed } from './printed.ts'
import { configured, refusal, sentenceOf, storagePassword } from './refused-start.ts'

const directory = newDirectory()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describeWithPostgresql('an unusable PostgreSQL ends the start with one line', () => {
  const start = postgresqlServers()
  let server: PostgresqlServer
  beforeAll(async () => {
    server = await start()
    await server.query(`CREATE ROLE app LOGIN PASSWORD '${storagePassword}'`)
    for (const name of ['poor', 'fixed', 'newer']) await server.query(`CREATE DATABASE ${name}`)
    await server.query("CREATE DATABASE western ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
  })

  const at = (database: string, password = storagePassword) => ({
    driver: 'postgresql',
    url: server.urlOf(database, 'app', password),
  })
  const named = (database: string) => `PostgreSQL at 127.0.0.1:${server.port}, database "${database}"`

  test('it is unreachable', async () => {
    const port = await reservedPort()
    const url = `postgresql://app:${storagePassword}@127.0.0.1:${port}/grantry`
    expect(await refusal(directory, { driver: 'postgresql', url, operationTimeout: 2 })).toMatch(
      new RegExp(`PostgreSQL at 127\\.0\\.0\\.1:${port}, database "grantry" is not available: .*ECONNREFUSED`, 'u'),
    )
  })

  test('it does not respond', async () => {
    server.pause()
    try {
      const sentence = await refusal(directory, { ...at('poor'), operationTimeout: 0.2 })
      expect(sentence).toContain(`${named('poor')} is not available: `)
    } finally {
      server.resume()
    }
  })

  test('the password is wrong, the database does not exist', async () => {
    const wrong = `${storagePassword}-of-another`
    expect(await refusal(directory, at('poor', encodeURIComponent(wrong)))).toMatch(
      new RegExp(`${named('poor')} refuses the password or the user: .*\\(28P01\\)$`, 'u'),
    )
    expect(await refusal(directory, at('absent'))).toContain(`${named('absent')} has no such database; create it`)
  })

  test('a right is missing, also for a table that an administrator has created', async () => {
    const config = configured(directory, at('poor'))
    // Before PostgreSQL 15, every user may create tables in this schema.
    await server.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC', undefined, 'poor')
    const starting = async () => sentenceOf(config, await printed('serve', '--config', config, '--port', '0'))
    expect(await starting()).toContain('has no table "public"."grantry_items", and this user may not create it')
    const { out } = await printed('storage', 'migrate', '--print', '--config', config)
    await server.query(out, undefined, 'poor')
    await server.query('GRANT SELECT, INSERT ON grantry_items TO app', undefined, 'poor')
    expect(await starting()).toContain('gives this user no right to UPDATE, DELETE on "public"."grantry_items"')
  })

  test('it is read-only', async () => {
    await server.query('ALTER DATABASE fixed SET default_transaction_read_only = on')
    expect(await refusal(directory, at('fixed'))).toContain(
      `${named('fixed')} is read-only: it is a replica, or default_transaction_read_only is on; use the primary`,
    )
  })

  test('its table has a newer version', async () => {
    const { out } = await printed('storage', 'migrate', '--print', '--config', configured(directory, at('newer')))
    await server.query(out, undefined, 'newer')
    await server.query('GRANT SELECT, INSERT, UPDATE, DELETE ON grantry_items TO app', undefined, 'newer')
    await server.query("UPDATE grantry_items SET value = '2' WHERE key = ''", undefined, 'newer')
    expect(await refusal(directory, at('newer'))).toContain(
      'has the table "public"."grantry_items" in version 2, which is newer than this driver (1); update it',
    )
  })

  test('its encoding cannot store all text', async () => {
    expect(await refusal(directory, at('western'))).toContain(
      'has the encoding LATIN1, which cannot store all text; create a database with UTF8',
    )
  })
})

describe('an unusable SQLite file ends the start with one line', () => {
  test('its table has a newer version', async () => {
    const file = join(mkdtempSync(join(directory, 'sqlite-')), 'grantry.db')
    const driver = sqliteDriver({ file })
    await driver.open()
    await driver.dispose()
    const database = new Database(file)
    database.exec("UPDATE grantry_items SET value = '2' WHERE key = x''")
    database.close()
    expect(await refusal(directory, { driver: 'sqlite', file })).toContain(
      `the table grantry_items of ${file} has version 2, and this version of Grantry supports version 1; use the version that wrote it, or another file`,
    )
  })
})
