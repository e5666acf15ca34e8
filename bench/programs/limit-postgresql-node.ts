// The minimal server on PostgreSQL, with the statements of the driver on a pool of `pg`: one for each read or insert, and
// two for each redemption. Requests share no statement.
import { postgresqlMigration } from '@grantry/storage-drivers/postgresql'
import pg from 'pg'
import { keyArray, numberArray, textArray } from '../../packages/storage-drivers/src/postgresql/parameters.ts'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import type { Item } from './limit-parts.ts'
import { serveLimit } from './limit-store.ts'

/** Connections, as in every server of the benchmark. */
const max = 10

/** Seconds: as long as the refresh token that it marks. */
const markerLifetime = 2_592_000

const recordKey = (key: string): string => `\\x00${key}`
const markerKey = (key: string): string => `\\x01${key}`

const columnsOf = (items: readonly Item[]): readonly string[] => [
  keyArray(items.map(({ key }) => key)),
  textArray(items.map(({ value }) => value)),
  numberArray(items.map(({ lifetime }) => lifetime)),
]

serveLimit((url) => {
  const location = { schema: 'public', prefix: 'limit' }
  const statements = statementsOf(location)
  // As the driver: each connection plans a statement once.
  const pool = new pg.Pool({ connectionString: url, max, options: '-c plan_cache_mode=force_generic_plan' })
  const created = pool.query(postgresqlMigration(location))

  async function perform(name: 'read' | 'write', values: unknown[]): Promise<pg.QueryArrayResult> {
    await created
    return pool.query({ ...statements[name], values, rowMode: 'array' })
  }

  /** Stores items, if a marker is created. Returns whether it was. */
  async function write(marker: Item | undefined, items: readonly Item[]): Promise<boolean> {
    const stored = items.map((item) => ({ ...item, key: recordKey(item.key) }))
    const conditions = items.map(() => marker?.key ?? '\\x')
    const values = [...columnsOf(marker === undefined ? [] : [marker]), ...columnsOf(stored), keyArray(conditions)]
    return (await perform('write', values)).rows.length === 1
  }

  return {
    async read(key) {
      const { rows } = await perform('read', [keyArray([recordKey(key)])])
      return rows[0]?.[1] ?? null
    },
    put: (...items) => write(undefined, items),
    async redeem(key, use) {
      const { rows } = await perform('read', [keyArray([recordKey(key), markerKey(key)])])
      // With its marker, it is a replay.
      const items = use(rows.length === 1 ? rows[0]?.[1] : null)
      const isFirst = await write({ key: markerKey(key), value: '{}', lifetime: markerLifetime }, items)
      if (!isFirst) throw new Error('invalid_grant')
    },
  }
})
