import { unpackKey } from '../../packages/storage-drivers/src/sql/item-key.ts'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'
import type { TorturedStore } from './stores.ts'
import { examine } from './whole-records.ts'

/** A row without an end counts as broken: nothing else would ever remove it. The row of the version has the empty key. */
export const postgresqlStore = (server: Pick<PostgresqlServer, 'url' | 'query'>): TorturedStore => ({
  configuration: { driver: 'postgresql', url: server.url },
  async examine() {
    const sql = `SELECT key, value, ends = 'infinity' AS "isImmortal" FROM grantry_items WHERE key <> '' AND ends > now()`
    const rows = (await server.query(sql)) as { key: Buffer; value: string; isImmortal: boolean }[]
    const items = rows.map(({ key, ...row }) => ({ name: unpackKey(key), ...row }))
    const { records, broken } = examine(items.map(({ name, value }) => [name, value]))
    const immortal = items.filter(({ isImmortal }) => isImmortal).map(({ name }) => `${name}: has no expiry`)
    return { records, broken: [...broken, ...immortal] }
  },
})
