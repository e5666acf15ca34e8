// The minimal server on PostgreSQL, with the statements of the driver on a pool of `pg`: one for each read or insert, and
// two for each redemption. Requests share no statement.
import { postgresqlMigration } from '@grantry/storage-drivers/postgresql'
import pg from 'pg'
import { keyArray, numberArray, textArray } from '../../packages/storage-drivers/src/postgresql/parameters.ts'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/statements.ts'
import type { Item } from './limit-parts.ts'
import { serveLimit } from './limit-store.ts'

/** Connections, as in every server of the benchmark. */
const max = 10

/** As seconds: as long as the refresh token that it marks. */
const markerLifetime = 2_592_000

const recordKey = (key: string): string => `\\x00${key}`
const markerKey = (key: string): string => `\\x01${key}`

const columnsOf = (keys: readonly string[], values: readonly string[], lifetimes: readonly number[]) => [
  keyArray(keys),
  textArray(values),
  numberArray(lifetimes),
]

serveLimit((url) => {
  const location = { schema: 'public', prefix: 'limit' }
  const statements = statementsOf(location)
  const pool = new pg.Pool({ connectionString: url, max })
  const created = pool.query(postgresqlMigration(location))

  async function perform(name: 'read' | 'insert' | 'commit', values: unknown[]): Promise<pg.QueryArrayResult> {
    await created
    return pool.query({ ...statements[name], values, rowMode: 'array' })
  }

  const commit = async (markers: readonly string[], items: readonly Item[]): Promise<boolean> => {
    const { rows } = await perform('commit', [
      ...columnsOf(
        markers,
        markers.map(() => '{}'),
        markers.map(() => markerLifetime),
      ),
      ...columnsOf(
        items.map(({ key }) => recordKey(key)),
        items.map(({ value }) => value),
        items.map(({ lifetime }) => lifetime),
      ),
      keyArray([]),
    ])
    return rows[0]?.[0] === true
  }

  return {
    async read(key) {
      const { rows } = await perform('read', [keyArray([recordKey(key)])])
      return rows[0]?.[1] ?? null
    },
    async put(...items) {
      const [item] = items
      if (item === undefined || items.length > 1) return commit([], items)
      return perform('insert', [recordKey(item.key), item.value, item.lifetime])
    },
    async redeem(key, use) {
      const { rows } = await perform('read', [keyArray([recordKey(key), markerKey(key)])])
      // With its marker, it is a replay.
      const isCommitted = await commit([markerKey(key)], use(rows.length === 1 ? rows[0]?.[1] : null))
      if (!isCommitted) throw new Error('invalid_grant')
    },
  }
})
