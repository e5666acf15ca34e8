import {
  codeOf,
  createExecutor,
  createPool,
  nameOf,
  type PostgresqlConnectionOptions,
  parseAddress,
  statementOf,
} from '@grantry/storage-drivers/clients'
import type { SqlUsersOptions } from './options.ts'
import { type Dialect, quoted, type SqlClient, type TextRow } from './sql-client.ts'

const dialect: Dialect = {
  text: (column) => `${column}::text`,
  sameName: (column, caseSensitive) =>
    caseSensitive ? `${column} = $1` : `pg_catalog.lower(${column}) = pg_catalog.lower($1)`,
  parameter: (index) => `$${index}`,
}

interface Plan {
  readonly 'Node Type'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** Whether every table of a plan is read by a condition of an index. */
function isIndexed(plan: Plan): boolean {
  const kind = plan['Node Type'] ?? ''
  if (kind === 'Seq Scan') return false
  if (/^(?:Index|Index Only|Bitmap Index) Scan$/u.test(kind) && plan['Index Cond'] === undefined) return false
  return (plan.Plans ?? []).every(isIndexed)
}

const columnsStatement = `SELECT attname::text,
  CASE WHEN atttypid IN (1042, 1043) AND atttypmod > 4 THEN (atttypmod - 4)::text END
  FROM pg_catalog.pg_attribute
  WHERE attrelid = pg_catalog.to_regclass($1)::oid AND attnum > 0 AND NOT attisdropped`

/** Connects on demand. The pool is that of the storage driver, with its time limits, TLS and errors. */
export function postgresqlClient(
  options: SqlUsersOptions & { readonly url: string },
  connection: PostgresqlConnectionOptions,
): SqlClient {
  const { url, schema = 'public', maxConnections, preparedStatements } = options
  const address = parseAddress(url, 'users.url')
  const timeout = Math.ceil(options.operationTimeout * 1000)
  const pool = createPool({ address, connection, maxConnections, timeout, preparedStatements }, nameOf(address))
  const executor = createExecutor(pool, timeout)
  const table = `${quoted(schema)}.${quoted(options.table)}`

  /** The error of the pool would be about a table of the storage. */
  function explain(error: unknown): never {
    if (codeOf(error) === '42P01') throw new Error(`${nameOf(address)} has no table ${table}`)
    throw error
  }

  async function read(text: string, values: readonly string[]): Promise<readonly TextRow[]> {
    const { rows } = await executor.read(() => ({ statement: statementOf('users', text), values })).catch(explain)
    return rows
  }

  async function planOf(text: string, values: readonly string[]): Promise<Plan> {
    const [row] = await read(`EXPLAIN (FORMAT JSON) ${text}`, values)
    const [first]: readonly { readonly Plan: Plan }[] = JSON.parse(row?.[0] ?? '[]')
    return first?.Plan ?? {}
  }

  return {
    table,
    dialect,
    read: (text, values) =>
      read(text, values).catch((error: unknown) => {
        // The value has not the form of the column, such as a text for a number or a UUID: no row can have it.
        if (codeOf(error)?.startsWith('22')) return []
        throw error
      }),
    async write(text, values) {
      await executor.write(() => ({ statement: statementOf('users', text), values })).catch(explain)
    },
    async columns() {
      const rows = await read(columnsStatement, [table])
      if (rows.length === 0) return undefined
      return rows.map(([name, length]) => ({ name: name ?? '', ...(length != null && { maxLength: Number(length) }) }))
    },
    usesIndex: async (text, values) => isIndexed(await planOf(text, values)),
    async mayWrite(text, values) {
      try {
        await planOf(text, values)
        return true
      } catch (error) {
        if (['42501', '25006'].includes(codeOf(error) ?? '')) return false
        throw error
      }
    },
    indexFor: (column, caseSensitive) =>
      `CREATE UNIQUE INDEX ON ${table} (${caseSensitive ? quoted(column) : `lower(${quoted(column)})`})`,
    close: () => pool.close(),
  }
}
