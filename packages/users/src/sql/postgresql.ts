import {
  codeOf,
  createExecutor,
  createPool,
  nameOf,
  type PostgresqlConnectionOptions,
  parseAddress,
  type Statement,
  statementOf,
} from '@grantry/storage-drivers/clients'
import { createSharedReads, type Query, unlessImpossible } from './shared-reads.ts'
import { type Dialect, quoted, type SqlClient, type TextRow } from './sql-client.ts'
import type { SqlUsersOptions } from './sql-options.ts'

/**
 * Every operator is named with its schema. Otherwise, PostgreSQL would prefer an operator of another role in `public`
 * that fits the types of a column better, such as one for `varchar`, and run its function with the rights of this user
 * (CVE-2018-1058).
 *
 * @param schemas of the operators of columns whose types are not in PostgreSQL itself, such as citext
 */
function dialectWith(schemas: ReadonlyMap<string, string>): Dialect {
  const isEqualTo = (column: string, operand: string): string =>
    `${quoted(column)} OPERATOR(${quoted(schemas.get(column) ?? 'pg_catalog')}.=) ${operand}`
  const equals: Dialect['equals'] = (column, index) => isEqualTo(column, `$${index}`)
  return {
    text: (column) => `${quoted(column)}::text`,
    equals,
    equalsAny: (column) => isEqualTo(column, 'ANY ($1)'),
    sameName: (column, caseSensitive) =>
      caseSensitive
        ? equals(column, 1)
        : `pg_catalog.lower(${quoted(column)}) OPERATOR(pg_catalog.=) pg_catalog.lower($1)`,
    parameter: (index) => `$${index}`,
  }
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

/**
 * The name, the length, and the schema of the operator that compares: that of the default class of the type, which only a
 * superuser creates.
 */
const columnsStatement = `SELECT attname::text,
  CASE WHEN atttypid IN (1042, 1043) AND atttypmod > 4 THEN (atttypmod - 4)::text END,
  (SELECT n.nspname::text FROM pg_catalog.pg_opclass c
    JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree'
    JOIN pg_catalog.pg_amop a ON a.amopfamily = c.opcfamily AND a.amoplefttype = c.opcintype
      AND a.amoprighttype = c.opcintype AND a.amopstrategy = 3
    JOIN pg_catalog.pg_operator o ON o.oid = a.amopopr
    JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
    WHERE c.opcdefault AND c.opcintype = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END)
  FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_type t ON t.oid = atttypid
  WHERE attrelid = pg_catalog.to_regclass($1)::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`

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
  const operatorSchemas = new Map<string, string>()
  const statements = new Map<string, Statement>()

  /** Returns a prepared statement, whose name is a hash of its text, computed once. */
  function named(text: string): Statement {
    const statement = statements.get(text) ?? statementOf('users', text)
    statements.set(text, statement)
    return statement
  }

  /** The error of the pool would be about a table of the storage. */
  function explain(error: unknown): never {
    if (codeOf(error) === '42P01') throw new Error(`${nameOf(address)} has no table ${table}`)
    throw error
  }

  async function perform(begin: () => Query): Promise<readonly TextRow[]> {
    const statement = (): { readonly statement: Statement; readonly values: readonly string[] } => {
      const { text, values } = begin()
      return { statement: named(text), values }
    }
    const { rows } = await executor.read(statement).catch(explain)
    return rows
  }

  const read = (text: string, values: readonly string[]) => perform(() => ({ text, values }))

  async function write(text: string, values: readonly string[]): Promise<readonly TextRow[]> {
    const { rows } = await executor.write(() => ({ statement: named(text), values })).catch(explain)
    return rows
  }

  async function planOf(text: string, values: readonly string[]): Promise<Plan> {
    const [row] = await read(`EXPLAIN (FORMAT JSON) ${text}`, values)
    const [first]: readonly { readonly Plan: Plan }[] = JSON.parse(row?.[0] ?? '[]')
    return first?.Plan ?? {}
  }

  return {
    table,
    dialect: dialectWith(operatorSchemas),
    read: async (text, values) => (await read(text, values).catch(unlessImpossible)) ?? [],
    rowsOf: createSharedReads(perform),
    async write(text, values) {
      await write(text, values)
    },
    returning: write,
    async columns() {
      const rows = await read(columnsStatement, [table])
      if (rows.length === 0) return undefined
      for (const [name, , operatorSchema] of rows) if (name && operatorSchema) operatorSchemas.set(name, operatorSchema)
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
