// The Redis driver also works with ioredis 6; all other tests use ioredis 5. scripts/check-declarations.js checks that
// its declarations compile with both.
import { type RedisDriverOptions, redisDriver } from '@grantry/storage-drivers/redis'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisServers } from '../support/redis-servers.ts'
import { assertPassesEveryProof, noCommit, noOutage, noProcesses } from './programs/table.ts'

// A variable, so that type checks do not resolve it: its types are a second copy of those of ioredis 5.
const six: string = vi.hoisted(() => 'ioredis6')
vi.mock('ioredis', () => import(six))
// Files share modules: neither a driver loaded before this file nor the mock after it may be reused.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

const skipReasons = [noProcesses, noOutage]
// The suites of all places run concurrently, so a server may take longer than the default time limit.
const assertWorks = (options: RedisDriverOptions, more: readonly string[] = []) =>
  assertPassesEveryProof({
    name: '',
    skipReasons: [...skipReasons, ...more],
    subject: () => ({ open: () => redisDriver({ ...options, operationTimeout: 30 }) }),
  })

describeWithRedis('with ioredis 6, the Redis driver passes the conformance kit on', () => {
  const servers = redisServers()

  test('the driver under test uses ioredis 6', async () => {
    const { Redis } = await import('ioredis')
    const { Redis: Sixth } = await import(six)
    expect(Redis).toBe(Sixth)
  })

  describe.concurrent('every place', () => {
    test('a single server', async () => assertWorks({ url: (await servers.start()).url }))

    test('a server with a replica', async () => {
      const primary = await servers.start()
      await servers.replicaOf(primary)
      await assertWorks({ url: primary.url, waitReplicas: 1 })
    })

    test('Sentinels', async () => {
      const primary = await servers.start()
      const sentinel = await servers.sentinelOf(primary)
      await assertWorks({ sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: sentinel.name })
    })

    test('a cluster', async () => {
      const cluster = await startRedisCluster()
      try {
        await assertWorks({ cluster: cluster.urls }, [noCommit])
      } finally {
        await cluster.stop()
      }
    })

    test('the client of the caller', async () => {
      const { Redis } = await import('ioredis')
      const client = new Redis((await servers.start()).url, { lazyConnect: true, autoResendUnfulfilledCommands: false })
      try {
        await assertWorks({ client })
      } finally {
        client.disconnect()
      }
    })
  })
})
