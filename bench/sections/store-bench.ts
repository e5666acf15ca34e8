import { type OperationName, postgresqlOperationNames, redisOperationNames } from '../operations.ts'
import { postgresqlTargets, redisTargets, type TargetTable } from '../report/targets.ts'
import { startBenchPostgresql } from '../run/bench-postgresql.ts'
import { startBenchRedis } from '../run/bench-redis.ts'
import type { StartStore } from '../run/bench-store.ts'
import type { Trips } from '../run/measure-trips.ts'
import { postgresqlServers, redisServers, type Server } from '../run/servers.ts'

/** What one request of Grantry may need at most. */
type TripLimits = Partial<Readonly<Record<OperationName, Partial<Trips>>>>

/** The benchmark of all servers on one store. */
export interface StoreBench {
  /** Of the store. */
  readonly title: string
  readonly start: StartStore
  readonly operations: readonly OperationName[]
  /** Only on Node, which all peers support. */
  readonly servers: readonly Server[]
  readonly targets: TargetTable
  readonly tripLimits: TripLimits
  readonly notes: readonly string[]
}

export const redisBench: StoreBench = {
  title: 'Redis',
  start: startBenchRedis,
  operations: redisOperationNames,
  servers: redisServers,
  targets: redisTargets,
  tripLimits: { refresh: { sent: 6, executed: 6, trips: 2 } },
  notes: [
    'Calls are Redis commands; a script counts as one.',
    'limit-node uses the fewest commands with which a refresh token or code works once. The next table shows for which servers it does.',
    'grantry-serve-node is `grantry serve` with a JSON configuration. Its password rows have a module configuration, because a JSON configuration hashes passwords and no other server does here.',
    'oidc-provider-node has the commands of the Redis adapter in its documentation. jmondi-node stores JSON with an expiry and reads each record with one GET. All servers use ioredis.',
  ],
}

export const postgresqlBench: StoreBench = {
  title: 'PostgreSQL',
  start: startBenchPostgresql,
  operations: postgresqlOperationNames,
  servers: postgresqlServers,
  targets: postgresqlTargets,
  tripLimits: {
    'client-credentials-opaque': { trips: 1 },
    introspection: { trips: 1 },
    userinfo: { trips: 1 },
    refresh: { trips: 2 },
    'authorization-code': { trips: 2 },
  },
  notes: [
    'Calls are statements, each of which is a transaction. Every server has 10 connections, and waits for the disk (`synchronous_commit = on`).',
    'limit-node performs the statements of the driver, one or two for each request. In grantry-node, concurrent requests share statements.',
    'oidc-provider-node has one table with an index for each look-up, and named prepared statements. better-auth-node caches its clients; its code is one with an ID token, because its rules require that or a proof key.',
  ],
}
