// Every driver on Redis passes the conformance kit. Add a row per driver.
import { driverProofs } from '@grantry/storage-drivers/conformance'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import unstorageRedis from 'unstorage/drivers/redis'
import { afterAll, beforeAll, onTestFinished, test } from 'vitest'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { assertKeepsEveryPromise, moduleOf, named, noProcesses, type Row } from './programs/conformance-table.ts'

describeWithRedis('passes the conformance kit:', () => {
  let server: RedisServer
  let cluster: RedisCluster
  beforeAll(async () => {
    server = await startRedis()
    cluster = await startRedisCluster()
  }, 60_000)
  afterAll(async () => {
    await Promise.all([server?.stop(), cluster?.stop()])
  })

  /** Pauses the servers: connections stay open without responses. */
  const away = (servers: () => readonly RedisServer[]) => ({
    begin() {
      for (const each of servers()) each.pause()
    },
    end() {
      for (const each of servers()) each.resume()
    },
  })

  const rows: readonly Row[] = [
    {
      name: 'redis, with 4 processes',
      leavesOut: [],
      subject: async () => ({
        open: () => redisDriver({ url: server.url }),
        module: await moduleOf('conformance-redis', { url: server.url }),
        processes: 4,
        outage: away(() => [server]),
      }),
    },
    {
      name: 'redis cluster, with 4 processes',
      leavesOut: [],
      subject: async () => ({
        open: () => redisDriver({ cluster: cluster.urls }),
        module: await moduleOf('conformance-redis', { cluster: cluster.urls.join(',') }),
        processes: 4,
        outage: away(() => cluster.nodes),
      }),
    },
    {
      name: 'unstorage over the Redis driver of Grantry',
      leavesOut: [noProcesses],
      subject() {
        const storage = createStorage({ driver: redisDriver({ url: server.url, prefix: 'unstorage' }) })
        onTestFinished(() => storage.dispose())
        return { open: () => unstorageDriver(storage), outage: away(() => [server]) }
      },
    },
    {
      name: 'unstorage over its own Redis driver, in a single process',
      leavesOut: [noProcesses],
      subject() {
        const storage = createStorage({ driver: unstorageRedis({ url: server.url }) })
        onTestFinished(() => storage.dispose())
        return { open: () => unstorageDriver(storage, { singleProcess: true }), outage: away(() => [server]) }
      },
    },
  ]

  test.each(named(rows))('%s', async (_, row) => assertKeepsEveryPromise(row), 120_000)

  test('redis, killed and restarted from its data on disk', async () => {
    const durable = await startRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    onTestFinished(() => durable.stop())
    const proofs = driverProofs({
      open: () => redisDriver({ url: durable.url }),
      outage: { begin: () => durable.kill(), end: () => durable.restart() },
    })
    await proofs.find(({ name }) => name.includes('real outage'))?.prove()
  }, 60_000)
})
