// A password that changes while the server runs: connections that begin afterwards use what the file says then.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { expect, onTestFinished, test } from 'vitest'
import { configuredStorage, storageSchema } from '../../packages/server/src/configuration/storage/storage-drivers.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

describeWithPostgresql('a password of PostgreSQL that changes', () => {
  const start = postgresqlServers()

  test('needs no restart: with a file, the next connection has the new one', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'grantry-password-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const server = await start()
    const [first, second] = ['first/p#ss%41', 'second?w:o@rd']
    await server.query(`CREATE ROLE rotating LOGIN PASSWORD '${first}'`)
    await server.query('CREATE DATABASE rotating OWNER rotating')
    writeFileSync(join(directory, 'password'), `${first}\n`)
    const url = server.urlOf('rotating', 'rotating', 'not-used')
    const storage = parseConfiguration(
      storageSchema,
      { driver: 'postgresql', url, passwordFile: 'password' },
      'storage',
    )
    const { driver } = await configuredStorage(storage, directory)
    onTestFinished(() => driver.dispose?.())
    await driver.setItem('key', '"before"', { ttl: 60 })

    await server.query(`ALTER ROLE rotating PASSWORD '${second}'`)
    writeFileSync(join(directory, 'password'), second)
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotating'")
    const read = async () => driver.getItem('key')
    await expect.poll(() => read().catch(() => undefined)).toBe('"before"')
  })

  test('a member for the password needs no percent-encoding', async () => {
    const server = await start()
    const password = 'a/b#c?d%41 @:é'
    await server.query(`CREATE ROLE special LOGIN PASSWORD '${password}'`)
    await server.query('CREATE DATABASE special OWNER special')
    const url = server.urlOf('special', 'special', 'x').replace(':x@', '@')
    const { driver } = await configuredStorage(
      parseConfiguration(storageSchema, { driver: 'postgresql', url, password }, 'storage'),
      '/',
    )
    onTestFinished(() => driver.dispose?.())
    expect(await driver.getItem('absent')).toBeNull()
  })
})
