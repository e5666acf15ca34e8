import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { type Address, nameOf, parseAddress } from './address.ts'

export type RedisClient = Redis | Cluster

/** Options of ioredis for the connections that the driver creates. */
export type ConnectionOptions = Pick<
  RedisOptions,
  | 'username'
  | 'password'
  | 'db'
  | 'tls'
  | 'family'
  | 'connectionName'
  | 'natMap'
  | 'sentinelUsername'
  | 'sentinelPassword'
  | 'sentinelTLS'
  | 'enableTLSForSentinelMode'
> &
  Pick<ClusterOptions, 'dnsLookup'>

/** A server, the nodes of a cluster, or the Sentinels of a primary. */
export type Place =
  | { readonly url: string; readonly connection?: ConnectionOptions }
  | { readonly cluster: readonly string[]; readonly connection?: ConnectionOptions }
  | {
      readonly sentinels: readonly { readonly host: string; readonly port: number }[]
      readonly name: string
      readonly connection?: ConnectionOptions
    }

/**
 * Returns the milliseconds before the n-th reconnection attempt. There is no last attempt: the process outlives an
 * outage.
 */
const retryDelay = (times: number): number => Math.min(times * 50, 500)

const common = (timeout: number): RedisOptions => ({
  lazyConnect: true,
  connectionName: 'grantry',
  connectTimeout: timeout,
  // Also applies to the INFO command that ioredis uses to check whether a server is ready.
  commandTimeout: timeout,
  // A command sent before the connection broke may have been performed; the core decides whether to retry it.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  maxLoadingRetryTime: 500,
  disconnectTimeout: 500,
  keepAlive: 10_000,
  // A demoted primary stays connected and rejects every write.
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
})

const single = (timeout: number): RedisOptions => ({
  ...common(timeout),
  enableOfflineQueue: false,
  enableAutoPipelining: true,
  retryStrategy: retryDelay,
  sentinelCommandTimeout: timeout,
  sentinelRetryStrategy: retryDelay,
})

function credentialsOf({ username, password, tls }: Address): RedisOptions {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  }
}

function ownCluster(addresses: readonly Address[], options: ConnectionOptions, timeout: number): Cluster {
  const { natMap, dnsLookup, ...connection } = options
  const [first] = addresses
  if (first === undefined) throw new TypeError('redisDriver(): cluster is empty; list at least one node')
  return new Cluster(
    addresses.map(({ host, port }) => ({ host, port })),
    {
      lazyConnect: true,
      // No enableAutoPipelining: when a slot moves, ioredis follows the redirection of a pipeline only if all of its
      // commands were redirected to the same node.
      enableOfflineQueue: false,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: timeout,
      // 0 disables these retries: they could resend a command that was performed, or delay it.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      ...(natMap !== undefined && { natMap }),
      ...(dnsLookup !== undefined && { dnsLookup }),
      redisOptions: {
        ...common(timeout),
        // Only for cluster nodes, whose clients never reconnect: after a reconnection of ioredis, the timer of the old
        // socket destroys the new one.
        socketTimeout: timeout,
        ...credentialsOf(first),
        ...connection,
      },
    },
  )
}

/** Creates clients that are configured but not connected. */
export interface OwnClient {
  /** Name of the server, for messages. */
  readonly where: string
  create(): RedisClient
}

/**
 * Returns a factory of clients that fail fast: no command is queued for a connection, and none is sent twice.
 *
 * @param timeout milliseconds
 * @throws TypeError when the address is malformed
 */
export function ownClient(place: Place, timeout: number): OwnClient {
  const { connection = {} } = place
  if ('cluster' in place) {
    const addresses = place.cluster.map(parseAddress)
    return {
      where: `Redis Cluster at ${addresses.map(nameOf).join(', ')}`,
      create: () => ownCluster(addresses, connection, timeout),
    }
  }
  const { dnsLookup: _, ...options } = connection
  if ('sentinels' in place) {
    const { sentinels, name } = place
    if (sentinels.length === 0) throw new TypeError('redisDriver(): sentinels is empty; list at least one Sentinel')
    return {
      where: `Redis "${name}" of the Sentinels at ${sentinels.map(nameOf).join(', ')}`,
      create: () => new Redis({ ...single(timeout), ...options, sentinels: [...sentinels], name }),
    }
  }
  const address = parseAddress(place.url)
  const { host, port, db } = address
  return {
    where: `Redis at ${nameOf(address)}`,
    create: () =>
      new Redis({
        ...single(timeout),
        host,
        port,
        ...(db !== undefined && { db }),
        ...credentialsOf(address),
        ...options,
      }),
  }
}
