import type { Place, RedisClient } from './own-client.ts'

export interface CommonRedisOptions {
  /** What the name of every item begins with, and a colon after it; `grantry` unless said otherwise. What begins with it is the driver's alone. */
  readonly prefix?: string
  /** How many replicas must have a write before it is answered; 0 unless said otherwise. Then what was answered survives the loss of the primary. */
  readonly waitReplicas?: number
  /** Seconds after which an operation counts as failed; 2 unless said otherwise. */
  readonly operationTimeout?: number
}

/** Where Redis is, or a client of ioredis: it is used as it is, and stays the caller's to close. */
export type RedisDriverOptions = CommonRedisOptions & (Place | { readonly client: RedisClient })

/** The options as they are worked with. */
export interface RedisSettings {
  readonly prefix: string
  readonly replicas: number
  /** Milliseconds. */
  readonly timeout: number
  /** Milliseconds to wait for replicas: less than an operation may take, so that it can still say what was missing. */
  readonly patience: number
}

/** @throws TypeError when an option is none. */
export function settingsOf(options: RedisDriverOptions): RedisSettings {
  const { prefix = 'grantry', waitReplicas = 0, operationTimeout = 2 } = options
  const places = ['url', 'cluster', 'sentinels', 'client'].filter((name) => name in options)
  if (places.length !== 1) throw new TypeError('redisDriver(): give one of url, cluster, sentinels and client')
  if (prefix === '') throw new TypeError('redisDriver(): the prefix is empty; clear() would remove everything')
  if (!(Number.isInteger(waitReplicas) && waitReplicas >= 0)) {
    throw new TypeError('redisDriver(): waitReplicas must be a whole number, 0 or more')
  }
  if (!(operationTimeout >= 0.01 && operationTimeout <= 3600)) {
    throw new TypeError('redisDriver(): operationTimeout must be 0.01 to 3600 seconds')
  }
  const timeout = Math.ceil(operationTimeout * 1000)
  return { prefix, replicas: waitReplicas, timeout, patience: Math.ceil(timeout * 0.75) }
}
