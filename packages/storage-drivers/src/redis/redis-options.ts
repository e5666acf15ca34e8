import type { RedisClient, RedisLocation } from './client-factory.ts'

export interface CommonRedisOptions {
  /**
   * Prefix of every Redis key, followed by a colon. Default: `grantry`. No other program may use keys with this prefix.
   */
  readonly prefix?: string | undefined
  /**
   * Number of replicas that must have a write before it resolves, so that it survives the loss of the primary. Default:
   * 0.
   */
  readonly waitReplicas?: number | undefined
  /** Time limit of an operation, in seconds. Default: 2. */
  readonly operationTimeout?: number | undefined
}

/** The address of Redis, or an ioredis client. The driver uses the client as it is and does not close it. */
export type RedisDriverOptions = CommonRedisOptions & (RedisLocation | { readonly client: RedisClient })

/** The options with defaults applied. */
export interface RedisSettings {
  readonly prefix: string
  readonly replicas: number
  /** Milliseconds. */
  readonly timeout: number
  /**
   * Milliseconds to wait for replicas. Less than `timeout`, so that the error can report how many replicas confirmed.
   */
  readonly replicaTimeout: number
}

/** @throws TypeError when an option is invalid. */
export function parseOptions(options: RedisDriverOptions): RedisSettings {
  const { prefix = 'grantry', waitReplicas = 0, operationTimeout = 2 } = options
  const locations = ['url', 'cluster', 'sentinels', 'client'].filter((name) => name in options)
  if (locations.length !== 1)
    throw new TypeError('redisDriver(): set exactly one of url, cluster, sentinels and client')
  if (prefix === '')
    throw new TypeError('redisDriver(): the prefix is empty; set one, so that clear() removes only its own keys')
  if (!(Number.isInteger(waitReplicas) && waitReplicas >= 0)) {
    throw new TypeError('redisDriver(): waitReplicas must be a whole number, 0 or more')
  }
  if (!(operationTimeout >= 0.01 && operationTimeout <= 3600)) {
    throw new TypeError('redisDriver(): operationTimeout must be 0.01 to 3600 seconds')
  }
  const timeout = Math.ceil(operationTimeout * 1000)
  return { prefix, replicas: waitReplicas, timeout, replicaTimeout: Math.ceil(timeout * 0.75) }
}
