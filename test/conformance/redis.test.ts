// Every driver on Redis passes the conformance kit. Add a row per driver.

import { type RedisDriver, type RedisDriverOptions, redisDriver } from '@grantry/storage-drivers/redis'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { driverProofs } from '@grantry/testing/drivers'
import { createStorage, type Storage } from 'unstorage'
import unstorageRedis from 'unstorage/drivers/redis'
import { afterAll, describe, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { startReplica } from '../support/redis-replica.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from '../support/redis-server.ts'
import {
  assertPassesEveryProof,
  named,
  noCommit,
  noEntries,
  noGetItems,
  noProcesses,
  type Row,
  temporaryFiles,
} from './programs/table.ts'

describeWithRedis('passes the conformance kit:', () => {
  const { moduleOf } = temporaryFiles()
  const ends: (() => unknown)[] = []
  afterAll(() => Promise.all(ends.map((end) => end())))

  /** Each row has its own server, because the rows run concurrently and pause their servers. */
  async function newServer(options?: RedisServerOptions): Promise<RedisServer> {
    const server = await startRedis(options)
    ends.push(() => server.stop())
    return server
  }

  /** Pauses the servers: connections stay open without responses. */
  const away = (servers: readonly RedisServer[]) => ({
    begin() {
      for (const each of servers) each.pause()
    },
    end() {
      for (const each of servers) each.resume()
    },
  })

  /** Opens again, because the servers of all rows start at the same moment and can take seconds to respond. */
  function patient(driver: RedisDriver): RedisDriver {
    return { ...driver, open: () => eventually(() => driver.open()) }
  }

  /** Seconds. Longer than the pauses of a kit, and than a server needs to respond on a busy machine. */
  const operationTimeout = 30

  const subjectOf = async (location: RedisDriverOptions, silent: readonly RedisServer[]) => {
    const options = { operationTimeout, ...location }
    return {
      open: () => patient(redisDriver(options)),
      module: await moduleOf('redis', { options: JSON.stringify(options) }),
      processes: 2,
      outage: away(silent),
    }
  }

  function opened(storage: Storage): Storage {
    ends.unshift(() => storage.dispose())
    return storage
  }

  const driverRows: readonly Row[] = [
    {
      name: 'redis, with 2 processes',
      skipReasons: [],
      async subject() {
        const server = await newServer()
        return subjectOf({ url: server.url }, [server])
      },
    },
    {
      name: 'redis with waitReplicas, with 2 processes and an outage of the replica',
      skipReasons: [],
      async subject() {
        const server = await newServer()
        const replica = await startReplica(server)
        ends.push(() => replica.stop())
        // The outage lasts until the driver no longer waits for the replica.
        return subjectOf({ url: server.url, waitReplicas: 1, operationTimeout: 8 }, [replica])
      },
    },
    {
      name: 'redis cluster, with 2 processes',
      skipReasons: [noCommit],
      async subject() {
        const cluster = await startRedisCluster()
        ends.push(() => cluster.stop())
        return subjectOf({ cluster: cluster.urls }, cluster.nodes)
      },
    },
  ]

  const unstorageRows: readonly Row[] = [
    {
      name: 'unstorage over the Redis driver of Grantry',
      skipReasons: [noProcesses, noGetItems, noCommit, noEntries],
      async subject() {
        const server = await newServer()
        const storage = opened(createStorage({ driver: redisDriver({ url: server.url, operationTimeout }) }))
        return { open: () => unstorageDriver(storage), outage: away([server]) }
      },
    },
    {
      name: 'unstorage over its own Redis driver, in a single process',
      skipReasons: [noProcesses, noGetItems, noCommit, noEntries],
      async subject() {
        const server = await newServer()
        const storage = opened(createStorage({ driver: unstorageRedis({ url: server.url }) }))
        return { open: () => unstorageDriver(storage, { singleProcess: true }), outage: away([server]) }
      },
    },
  ]

  // Two groups, one after the other: more kits in one process would delay each other past their time limits.
  describe('the driver:', () => {
    test.concurrent.each(named(driverRows))('%s', async (_, row) => assertPassesEveryProof(row))
  })

  describe('in unstorage or after a restart:', () => {
    test.concurrent.each(named(unstorageRows))('%s', async (_, row) => assertPassesEveryProof(row))

    test.concurrent('redis, killed and restarted from its data on disk', async () => {
      const durable = await newServer({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
      const proofs = driverProofs({
        open: () => redisDriver({ url: durable.url, operationTimeout }),
        outage: { begin: () => durable.kill(), end: () => durable.restart() },
      })
      await proofs.find(({ name }) => name.includes('real outage'))?.prove()
    })
  })
})
