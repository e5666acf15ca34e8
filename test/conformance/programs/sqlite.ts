// Module for child processes of the conformance kit: the SQLite driver on the file in the query.
import type { AtomicDriver } from '@grantry/core'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'

export const open = (): AtomicDriver =>
  sqliteDriver({ file: new URL(import.meta.url).searchParams.get('file') ?? '', operationTimeout: 30 })
