// The Redis driver passes the conformance kit on one server, with waitReplicas, and on a cluster.
import { type RedisDriverOptions, redisDriver } from '@grantry/storage-drivers/redis'
import { afterAll, beforeAll, test } from 'vitest'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { startReplica } from '../support/redis-replica.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { assertKeepsEveryPromise, moduleOf, named, type Row } from './programs/conformance-table.ts'

describeWithRedis('the Redis driver passes the conformance kit', () => {
  let server: RedisServer
  let replica: RedisServer
  let cluster: RedisCluster
  beforeAll(async () => {
    server = await startRedis()
    replica = await startReplica(server)
    cluster = await startRedisCluster(3)
  }, 60_000)
  afterAll(() => Promise.all([server.stop(), replica.stop(), cluster.stop()]))

  /** @param silent the servers that hang during an outage */
  const row = (name: string, optionsOf: () => RedisDriverOptions, silent: () => readonly RedisServer[]): Row => ({
    name,
    leavesOut: [],
    subject: async () => ({
      open: () => redisDriver(optionsOf()),
      module: await moduleOf('redis-conformance', { options: JSON.stringify(optionsOf()) }),
      outage: {
        begin() {
          for (const one of silent()) one.pause()
        },
        end() {
          for (const one of silent()) one.resume()
        },
      },
    }),
  })

  const rows: readonly Row[] = [
    row(
      'on one server',
      () => ({ url: server.url }),
      () => [server],
    ),
    row(
      'with waitReplicas, and an outage of the replica',
      () => ({ url: server.url, prefix: 'waited', waitReplicas: 1 }),
      () => [replica],
    ),
    row(
      'on a cluster',
      () => ({ cluster: cluster.urls }),
      () => cluster.nodes,
    ),
  ]

  test.each(named(rows))('%s', async (_, one) => assertKeepsEveryPromise(one), 120_000)
})
