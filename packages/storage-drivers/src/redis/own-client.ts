import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { type Address, nameOf, parseAddress } from './address.ts'

export type RedisClient = Redis | Cluster

/** What ioredis may be told about the connections that the driver makes for itself. */
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

/** A server, the nodes of a cluster, or the Sentinels that know the primary. */
export type Place =
  | { readonly url: string; readonly connection?: ConnectionOptions }
  | { readonly cluster: readonly string[]; readonly connection?: ConnectionOptions }
  | {
      readonly sentinels: readonly { readonly host: string; readonly port: number }[]
      readonly name: string
      readonly connection?: ConnectionOptions
    }

/** Milliseconds before the n-th attempt to connect again. It never gives up: the process outlives an outage. */
const retryDelay = (times: number): number => Math.min(times * 50, 500)

const common = (timeout: number): RedisOptions => ({
  lazyConnect: true,
  connectionName: 'grantry',
  connectTimeout: timeout,
  // Also the INFO by which ioredis finds out whether a server is ready.
  commandTimeout: timeout,
  // A command that was sent before the connection broke may have been performed; whether to ask again is for the core to say.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  maxLoadingRetryTime: 500,
  disconnectTimeout: 500,
  keepAlive: 10_000,
  // A primary that was demoted stays connected and refuses every write.
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
  if (first === undefined) throw new TypeError('redisDriver(): cluster names no node')
  return new Cluster(
    addresses.map(({ host, port }) => ({ host, port })),
    {
      lazyConnect: true,
      // Not enableAutoPipelining: when a slot moves, ioredis follows the redirection of a pipeline only if every command of it got the same one.
      enableOfflineQueue: false,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: timeout,
      // 0 turns them off: they would send a command again that may have been performed, or keep it waiting.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      ...(natMap !== undefined && { natMap }),
      ...(dnsLookup !== undefined && { dnsLookup }),
      redisOptions: {
        ...common(timeout),
        // Only here: after a reconnection ioredis lets the timer of the old socket destroy the new one, and a node's client never reconnects.
        socketTimeout: timeout,
        ...credentialsOf(first),
        ...connection,
      },
    },
  )
}

/** A client that is told where to connect and does not do so yet. */
export interface OwnClient {
  /** For sentences. */
  readonly where: string
  create(): RedisClient
}

/**
 * Clients that fail fast: no command waits for a connection, and none is sent twice.
 *
 * @param timeout milliseconds
 * @throws TypeError when the place is malformed
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
    if (sentinels.length === 0) throw new TypeError('redisDriver(): sentinels names none')
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
