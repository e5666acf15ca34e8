import { type PostgresqlDriver, postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { type RedisDriver, redisDriver } from '@grantry/storage-drivers/redis'
import { type SqliteDriver, sqliteDriver } from '@grantry/storage-drivers/sqlite'
import type { NetworkStore } from './network-stores.ts'

/** Opens a store in a program of a proof. @param options `prefix`: separates the runs in one store */
export const driverAt = (
  store: NetworkStore,
  options: { readonly prefix?: string; readonly operationTimeout?: number } = {},
): PostgresqlDriver | RedisDriver | SqliteDriver => {
  switch (store.driver) {
    case 'redis':
      return redisDriver({ url: store.url, ...options })
    case 'postgresql':
      return postgresqlDriver({ url: store.url, ...options })
    case 'sqlite':
      return sqliteDriver({ file: store.file, ...options })
  }
}
