import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { type Address, nameOf, parseAddress } from './address.ts'

export type RedisClient = Redis | Cluster

type SettableOptions = Pick<
  RedisOptions,
  | 'username'
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

/** Options of ioredis for the connections that the driver creates. */
export type ConnectionOptions = { readonly [Name in keyof SettableOptions]?: SettableOptions[Name] | undefined } & {
  /** Replaces the password of the URL. A function is called for each new connection, for passwords that expire. */
  readonly password?: string | (() => string) | undefined
}

/**
 * Leaves out options that are `undefined`, which would override the driver's own settings, such as the TLS of a
 * `rediss` URL.
 */
const settable = ({ password: _, ...options }: ConnectionOptions): SettableOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

type ReadPassword = () => string | undefined

/** While the function fails, the last password is used: its error could contain one, and the server decides. */
function passwordReader({ password }: ConnectionOptions): ReadPassword {
  if (typeof password !== 'function') return () => password
  let last: string | undefined
  return () => {
    try {
      last = password()
    } catch {
      // The last password is used: see passwordReader().
    }
    return last
  }
}

/** A server, the nodes of a cluster, or the Sentinels of a primary. */
export type RedisLocation =
  | { readonly url: string; readonly connection?: ConnectionOptions | undefined }
  | { readonly cluster: readonly string[]; readonly connection?: ConnectionOptions | undefined }
  | {
      readonly sentinels: readonly { readonly host: string; readonly port: number }[]
      readonly name: string
      readonly connection?: ConnectionOptions | undefined
    }

/**
 * Returns the milliseconds before the n-th reconnection attempt. There is no last attempt: the process outlives an
 * outage.
 */
const retryDelay = (times: number): number => Math.min(times * 50, 500)

const commonOptions = (timeout: number): RedisOptions => ({
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

const singleServerOptions = (timeout: number): RedisOptions => ({
  ...commonOptions(timeout),
  enableOfflineQueue: false,
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

/** Creates a client that reads its password before each connection. */
function createSingle(options: RedisOptions, readPassword: ReadPassword): Redis {
  const withPassword = (): Pick<RedisOptions, 'password'> => {
    const password = readPassword()
    return password === undefined ? {} : { password }
  }
  const client: Redis = new Redis({
    ...options,
    ...withPassword(),
    retryStrategy: (times) => {
      Object.assign(client.options, withPassword())
      return retryDelay(times)
    },
  })
  return client
}

function createCluster(
  addresses: readonly Address[],
  options: SettableOptions,
  readPassword: ReadPassword,
  timeout: number,
): Cluster {
  const { natMap, dnsLookup, ...connection } = options
  const [first] = addresses
  if (first === undefined) throw new TypeError('redisDriver(): cluster is empty; list at least one node')
  return new Cluster(
    addresses.map(({ host, port }) => ({ host, port })),
    {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: timeout,
      // 0 disables these retries: they could resend a command that was performed, or delay it.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      ...(natMap !== undefined && { natMap }),
      ...(dnsLookup !== undefined && { dnsLookup }),
      redisOptions: {
        ...commonOptions(timeout),
        // Only for cluster nodes, whose clients never reconnect: after a reconnection of ioredis, the timer of the old
        // socket destroys the new one.
        socketTimeout: timeout,
        ...credentialsOf(first),
        ...connection,
        // Read for each node, which is created anew instead of connected again.
        get password() {
          return readPassword() ?? first.password
        },
      } as RedisOptions,
    },
  )
}

/** Creates clients that are configured but not connected. */
export interface ClientFactory {
  /** Name of the server, for messages. */
  readonly serverName: string
  create(): RedisClient
}

/**
 * Returns a factory of clients that fail fast: no command is queued for a connection, and none is sent twice.
 *
 * @param timeout milliseconds
 * @throws TypeError when the address is malformed
 */
export function clientFactory(location: RedisLocation, timeout: number): ClientFactory {
  const connection = settable(location.connection ?? {})
  const readPassword = passwordReader(location.connection ?? {})
  if ('cluster' in location) {
    const addresses = location.cluster.map(parseAddress)
    return {
      serverName: `Redis Cluster at ${addresses.map(nameOf).join(', ')}`,
      create: () => createCluster(addresses, connection, readPassword, timeout),
    }
  }
  const { dnsLookup: _, ...options } = connection
  if ('sentinels' in location) {
    const { sentinels, name } = location
    if (sentinels.length === 0) throw new TypeError('redisDriver(): sentinels is empty; list at least one Sentinel')
    return {
      serverName: `Redis "${name}" of the Sentinels at ${sentinels.map(nameOf).join(', ')}`,
      create: () =>
        createSingle({ ...singleServerOptions(timeout), ...options, sentinels: [...sentinels], name }, readPassword),
    }
  }
  const address = parseAddress(location.url)
  const { host, port, db } = address
  return {
    serverName: `Redis at ${nameOf(address)}`,
    create: () =>
      createSingle(
        {
          ...singleServerOptions(timeout),
          host,
          port,
          ...(db !== undefined && { db }),
          ...credentialsOf(address),
          ...options,
        },
        readPassword,
      ),
  }
}
