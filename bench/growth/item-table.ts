import type { AtomicDriver } from '@grantry/core'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'

/** A table of the driver. */
export interface BenchTable {
  readonly prefix: string
  readonly name: string
  /** Rows that `fill()` has inserted. */
  filled: number
  readonly driver: AtomicDriver & { dispose(): Promise<void> }
}

/**
 * Opens a driver that removes no expired rows, because the sweepers of the benchmark are other processes: its timer is
 * set when it opens, and its other timers are those of time limits.
 */
async function openWithoutTimers(driver: { open(): Promise<void> }): Promise<void> {
  const { setTimeout } = globalThis
  globalThis.setTimeout = (() => ({ unref() {} })) as never
  try {
    await driver.open()
  } finally {
    globalThis.setTimeout = setTimeout
  }
}

/** @param parameters replaces storage parameters of the migration, such as `fillfactor = 100`; empty for none */
export async function createTable(server: PostgresqlServer, prefix: string, parameters: string): Promise<BenchTable> {
  const name = `${prefix}_items`
  const driver = postgresqlDriver({ url: server.url, prefix, maxConnections: 16 })
  await openWithoutTimers(driver)
  if (parameters !== '') await server.query(`ALTER TABLE ${name} SET (${parameters})`)
  return { prefix, name, filled: 0, driver }
}

/** Rows of a table, in bytes and numbers, as the statistics of PostgreSQL know them. */
export interface TableSize {
  readonly table: number
  readonly keyIndex: number
  readonly endsIndex: number
  readonly live: number
  readonly dead: number
  readonly vacuums: number
  /** Share of the updates that wrote no index. */
  readonly hotUpdates: number
}

export async function sizeOf(server: PostgresqlServer, { prefix, name }: BenchTable): Promise<TableSize> {
  const [row = {}] = await server.query(
    `SELECT pg_table_size('${name}') AS table, pg_relation_size('${name}_pkey') AS "keyIndex",
      pg_relation_size('${prefix}_items_ends') AS "endsIndex", n_live_tup AS live, n_dead_tup AS dead,
      autovacuum_count AS vacuums, n_tup_hot_upd::float8 / greatest(n_tup_upd, 1) AS "hotUpdates"
    FROM pg_stat_user_tables WHERE relname = '${name}'`,
  )
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value)])) as unknown as TableSize
}

export const bytesOf = ({ table, keyIndex, endsIndex }: TableSize): number => table + keyIndex + endsIndex
