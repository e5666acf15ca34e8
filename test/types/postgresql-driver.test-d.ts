import type { AtomicDriver } from '@grantry/core'
import { type PostgresqlDriverOptions, postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import type { Driver } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

// The type is written out, so that users do not type-check all of unstorage. It must still be assignable to theirs.
test('the PostgreSQL driver is an unstorage driver that can insert atomically', () => {
  expectTypeOf(postgresqlDriver({ url: 'postgresql://a@127.0.0.1/b' })).toExtend<Driver>()
  expectTypeOf(postgresqlDriver({ url: 'postgresql://a@127.0.0.1/b' })).toExtend<AtomicDriver>()
})

test('the certificate of the server is always verified', () => {
  expectTypeOf<{ url: string; connection: { tls: { ca: string } } }>().toExtend<PostgresqlDriverOptions>()
  expectTypeOf<{
    url: string
    connection: { tls: { rejectUnauthorized: boolean } }
  }>().not.toExtend<PostgresqlDriverOptions>()
})
