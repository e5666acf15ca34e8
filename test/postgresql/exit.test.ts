// A program that has opened the driver exits by itself when it is done.
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { PostgresqlDriverOptions } from '@grantry/storage-drivers/postgresql'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { lastResort } from '../support/eventually.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { runProgram } from '../support/program.ts'
import { reservedPort } from '../support/reserved-port.ts'

describeWithPostgresql('the PostgreSQL driver', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let program: string
  let server: PostgresqlServer
  beforeAll(async () => {
    program = await bundle(new URL('./programs/open-and-dispose.ts', import.meta.url))
    server = await start()
  })
  afterAll(() => rm(dirname(program), { recursive: true }))

  async function endOf(options: PostgresqlDriverOptions): Promise<readonly [code: number | null, printed: string]> {
    const patient = { operationTimeout: lastResort / 1000, ...options }
    const child = runProgram([process.execPath, program, JSON.stringify(patient)], { cwd: dirname(program) })
    const code = await child.ended
    return [code, child.output().out]
  }

  test('lets a process exit after use and dispose()', async () => {
    expect(await endOf({ url: server.url })).toEqual([0, 'disposed of\n'])
  })

  test('lets a process exit after a failed open()', async () => {
    const url = `postgresql://a:b@127.0.0.1:${await reservedPort()}/tokens`
    expect(await endOf({ url })).toEqual([0, expect.stringContaining('storage: PostgreSQL at 127.0.0.1')])
    expect(await endOf({ url: server.urlOf('absent') })).toEqual([0, expect.stringContaining('has no such database')])
  })

  test('uses the Unix socket of the server', async () => {
    const url = `postgresql://postgres:the-password@localhost:${server.port}/postgres?host=${server.directory}`
    const driver = driverOf({ url, prefix: 'socket' })
    await driver.setItem('key', 'x', { ttl: 60 })
    expect(await driver.getItem('key')).toBe('x')
  })

  test('is a driver of unstorage, on which items are inserted atomically', async () => {
    const storage = createStorage({ driver: driverOf({ url: server.url, prefix: 'unstorage' }) })
    const driver = unstorageDriver(storage, { base: 'tokens' })
    await driver.open?.()
    expect(await driver.insertItem('spent:1', 'x', { ttl: 60 })).toBe(true)
    expect(await driver.insertItem('spent:1', 'x', { ttl: 60 })).toBe(false)
    expect(await storage.getKeys('tokens')).toEqual(['tokens:spent:1'])
    await storage.clear()
    expect(await driver.getItem('spent:1')).toBeNull()
  })
})
