// An operator restores a backup on each storage: accounts are there, and nothing that was spent or revoked works again.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recoverStorage } from '@grantry/core'
import { copyItems, type ListableDriver } from '@grantry/storage-drivers/copy'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterEach, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { startPostgresql } from '../support/postgresql-server.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startRedis } from '../support/redis-server.ts'
import { allKept, allRefused, serviceAfter, serviceBefore } from '../support/restored-service.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** @param open returns what opens an empty storage of the kind: a provider disposes of its driver. */
async function recover(open: () => Promise<() => ListableDriver>): Promise<void> {
  const first = await open()
  const before = await serviceBefore(first())
  const backup = memoryDriver()
  await copyItems({ from: first(), to: backup, final: true })
  await before.continueService()
  const second = await open()
  await copyItems({ from: backup, to: second(), final: true })
  const { removed } = await recoverStorage({ storage: second() })
  expect(removed).toBeGreaterThan(5)
  expect(await serviceAfter(second(), before)).toEqual({ spent: allRefused, kept: allKept })
}

/** Disposes of each driver at the end of the test. */
const opened = (open: () => ListableDriver) => () => {
  const driver = open()
  ends.push(() => driver.dispose?.())
  return driver
}

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-recover-'))
  ends.push(() => rm(directory, { recursive: true }))
  return directory
}

test('on files', () =>
  recover(async () => {
    const directory = await newDirectory()
    return opened(() => filesystemDriver({ directory, fsync: false }))
  }))

test('on SQLite', () =>
  recover(async () => {
    const file = join(await newDirectory(), 'grantry.db')
    return opened(() => sqliteDriver({ file }))
  }))

describeWithRedis('on Redis', () => {
  const driverOf = redisDrivers()
  test('keeps accounts, and nothing that gives access', () =>
    recover(async () => {
      const { url, stop } = await startRedis()
      ends.push(stop)
      return () => driverOf({ url })
    }))
})

describeWithPostgresql('on PostgreSQL', () => {
  const driverOf = postgresqlDrivers()
  test('keeps accounts, and nothing that gives access', () =>
    recover(async () => {
      const { url, stop } = await startPostgresql()
      ends.push(stop)
      return () => driverOf({ url })
    }))
})
