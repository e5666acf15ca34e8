// A service moves to another storage: its tokens stay valid, and what was used or revoked stays so.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyItems, type ListableDriver } from '@grantry/storage-drivers/copy'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterEach, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { startPostgresql } from '../support/postgresql-server.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startRedis } from '../support/redis-server.ts'
import { issueTokens, judged, live, refresh } from '../support/revocation.ts'
import { refreshedChain } from '../support/spent-chain.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function files(): Promise<ListableDriver> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-copy-'))
  const driver = filesystemDriver({ directory, fsync: false })
  ends.push(() => rm(directory, { recursive: true }), driver.dispose)
  return driver
}

/** Moves a service that runs during the first copy. */
async function move(from: ListableDriver, to: ListableDriver): Promise<void> {
  const { f, tokens, clock } = await refreshedChain(from)
  const revoked = await issueTokens(f)
  await copyItems({ from, to })
  const last = await refresh(f, tokens.at(-1) ?? '')
  await f.post('revocation', { token: revoked.refresh_token }, web)
  await copyItems({ from, to, final: true })

  const moved = await fixture({ storage: to, runtime: { now: clock.now } })
  expect(await judged(moved, last.body.access_token)).toEqual(live)
  expect(await refresh(moved, revoked.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  const next = await refresh(moved, last.body.refresh_token)
  expect(next.status).toBe(200)
  // A token that was spent before the copy is a theft after it: it ends its family.
  expect(await refresh(moved, tokens[0] ?? '')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect(await refresh(moved, next.body.refresh_token)).toMatchObject({ status: 400 })
}

async function sqlite(): Promise<ListableDriver> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-copy-'))
  const driver = sqliteDriver({ file: join(directory, 'grantry.db') })
  ends.push(() => rm(directory, { recursive: true }), driver.dispose)
  return driver
}

test('from files to SQLite', async () => move(await files(), await sqlite()))
test('from SQLite to files', async () => move(await sqlite(), await files()))
test('from files to memory', async () => move(await files(), memoryDriver()))

describeWithRedis('with Redis', () => {
  const driverOf = redisDrivers()

  async function redis(): Promise<ListableDriver> {
    const server = await startRedis()
    ends.push(server.stop)
    return driverOf({ url: server.url })
  }

  async function cluster(): Promise<ListableDriver> {
    const started = await startRedisCluster()
    ends.push(started.stop)
    return driverOf({ cluster: started.urls })
  }

  describeWithPostgresql('and PostgreSQL', () => {
    const postgresqlOf = postgresqlDrivers()

    async function postgresql(): Promise<ListableDriver> {
      const server = await startPostgresql()
      ends.push(server.stop)
      return postgresqlOf({ url: server.url })
    }

    test('from files to PostgreSQL', async () => move(await files(), await postgresql()))
    test('from PostgreSQL to files', async () => move(await postgresql(), await files()))
    test('from Redis to PostgreSQL', async () => move(await redis(), await postgresql()))
    test('from PostgreSQL to Redis', async () => move(await postgresql(), await redis()))
  })

  test('from files to Redis', async () => move(await files(), await redis()))
  test('from SQLite to Redis', async () => move(await sqlite(), await redis()))
  test('from Redis to SQLite', async () => move(await redis(), await sqlite()))
  test('from Redis to files', async () => move(await redis(), await files()))
  test('from a cluster to Redis', async () => move(await cluster(), await redis()))
  test('from Redis to a cluster', async () => move(await redis(), await cluster()))
})
