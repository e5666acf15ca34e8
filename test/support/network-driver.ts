import { type PostgresqlDriver, postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { type RedisDriver, redisDriver } from '@grantry/storage-drivers/redis'
import type { NetworkStore } from './network-stores.ts'

/** Opens a store in a program of a proof. @param options `prefix`: separates the runs in one store */
export const driverAt = (
  { driver, url }: NetworkStore,
  options: { readonly prefix?: string; readonly operationTimeout?: number } = {},
): PostgresqlDriver | RedisDriver =>
  driver === 'redis' ? redisDriver({ url, ...options }) : postgresqlDriver({ url, ...options })
