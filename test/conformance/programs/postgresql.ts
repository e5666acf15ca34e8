// Module for child processes of the conformance kit: the PostgreSQL driver with the options in the query.
import type { AtomicDriver } from '@grantry/core'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'

export const open = (): AtomicDriver =>
  postgresqlDriver(JSON.parse(new URL(import.meta.url).searchParams.get('options') ?? '{}'))
