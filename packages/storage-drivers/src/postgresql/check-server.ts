import { codeOf, type Errors } from './errors.ts'
import type { Executor } from './executor.ts'
import type { Statement } from './postgresql-connection.ts'
import type { PostgresqlSettings } from './postgresql-options.ts'
import { statementOf, tableOf } from './postgresql-statements.ts'
import { postgresqlMigration, schemaVersion } from './schema.ts'

/** The oldest supported version. */
const oldest = 14

const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

/** Settings of the server with which it keeps confirmed writes in a crash. */
const durable: Readonly<Record<string, string>> = { fsync: 'on', full_page_writes: 'on' }

const setting = (name: string): string => `pg_catalog.current_setting('${name}')`

const inspection = statementOf(
  'inspect',
  `SELECT ${setting('server_version_num')}, ${setting('server_encoding')},
    pg_catalog.pg_is_in_recovery() OR ${setting('transaction_read_only')}::boolean,
    ${setting('fsync')}, ${setting('full_page_writes')}, ${setting('synchronous_commit')},
    pg_catalog.to_regclass($1) IS NOT NULL, pg_catalog.current_schemas(true),
    (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'statement_timeout')`,
)

async function firstRow(
  executor: Executor,
  statement: Statement,
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  const { rows } = await executor.read(() => ({ statement, values }))
  return rows[0] ?? []
}

function assertDurable(errors: Errors, settings: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(durable).find(([name, value]) => settings[name] !== value)
  const [name, value] = wrong ?? (settings.synchronous_commit === 'off' ? ['synchronous_commit', 'on'] : [])
  if (name === undefined) return
  throw errors.create(
    `has ${name} = ${settings[name]}, so a crash could lose the marker of a redeemed code, which then works twice; set ${name} = ${value}, or the option durability to relaxed`,
  )
}

/** Milliseconds. */
const longestStatement = 60_000

/**
 * Checks `statement_timeout`. The driver sets it, unless a PgBouncer ignores that, or `preparedStatements` is false.
 */
function assertTimeLimit(errors: Errors, limit: number, timeout: number): void {
  if (limit > 0 && limit <= Math.max(longestStatement, timeout)) return
  const timeLimit = limit === 0 ? 'no statement_timeout' : `a statement_timeout of ${limit / 1000} s`
  throw errors.create(
    `has ${timeLimit} for this user, so a write that has failed could be performed much later, after a revocation; run ALTER ROLE … SET statement_timeout = '2s', and end its sessions`,
  )
}

/** Creates the table, or changes the settings of one that an earlier version has created. */
export async function migrateTable(executor: Executor, settings: PostgresqlSettings): Promise<void> {
  const script: Statement = { name: '', text: postgresqlMigration(settings) }
  await executor.write(() => ({ statement: script, values: [] }))
}

async function createTable(executor: Executor, errors: Errors, settings: PostgresqlSettings): Promise<void> {
  const { schema, prefix } = settings
  try {
    await migrateTable(executor, settings)
  } catch (error) {
    if (codeOf(error) !== '42501') throw error
    throw errors.create(
      `has no table ${tableOf({ schema, prefix })}, and this user may not create it; run "grantry storage migrate" as the owner of the database or of schema ${schema}, or grant CREATE on that schema`,
    )
  }
}

const tableState = statementOf(
  'table',
  `SELECT c.relkind = 'r', c.relpersistence = 'p', c.relrowsecurity, owner.rolname, owner.rolsuper OR c.relowner IN (
    (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = current_user), n.nspowner,
    (SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  ) FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_roles owner ON owner.oid = c.relowner
  WHERE c.oid = pg_catalog.to_regclass($1)::oid`,
)

/**
 * Checks the owner of the table, who can read and change the items, and whose triggers run with the rights of this
 * user.
 */
async function assertTrustworthy(executor: Executor, errors: Errors, settings: PostgresqlSettings): Promise<void> {
  const table = tableOf(settings)
  const [isTable, isLogged, hasPolicies, owner, isTrusted] = await firstRow(executor, tableState, [table])
  if (isTable !== 't')
    throw errors.create(`has a relation ${table} that is not a table of this driver; set another prefix or schema`)
  if (isTrusted !== 't')
    throw errors.create(
      `has a table ${table} of the user ${owner}, who owns neither its schema nor the database; give it to another owner, or set another prefix or schema`,
    )
  if (hasPolicies === 't')
    throw errors.create(
      `has row level security on ${table}, which could hide the marker of a redeemed code; disable it with ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`,
    )
  if (settings.durability === 'full' && isLogged !== 't')
    throw errors.create(
      `loses the unlogged table ${table} in a crash; make it durable with ALTER TABLE ${table} SET LOGGED, or set the option durability to relaxed`,
    )
}

async function assertTable(executor: Executor, errors: Errors, table: string): Promise<void> {
  const columns = rights.map((right) => `pg_catalog.has_table_privilege($1, '${right}')`).join(', ')
  const held = await firstRow(executor, statementOf('rights', `SELECT ${columns}`), [table])
  const missing = rights.filter((_, index) => held[index] !== 't')
  if (missing.length > 0) throw errors.create(`gives this user no right to ${missing.join(', ')} on ${table}`)
  const text = `SELECT value FROM ${table} WHERE key = ''::bytea`
  const [version] = await firstRow(executor, statementOf('version', text), []).catch((error: unknown) => {
    // There is no such column, or it has another type.
    if (codeOf(error)?.startsWith('42')) return []
    throw error
  })
  if (version === String(schemaVersion)) return
  throw errors.create(
    Number(version) > schemaVersion
      ? `has the table ${table} in version ${version}, which is newer than this driver (${schemaVersion}); update it`
      : `has a table ${table} that is not one of this driver; set another prefix or schema`,
  )
}

/** Rejects when the server or the table is unsuitable. Creates the table unless `migrate` is false. */
export async function prepareServer(executor: Executor, errors: Errors, settings: PostgresqlSettings): Promise<void> {
  const table = tableOf(settings)
  const row = await firstRow(executor, inspection, [table])
  const [version, encoding, isReadOnly, fsync, full_page_writes, synchronous_commit, exists, path, limit] = row
  const major = Math.floor(Number(version) / 10_000)
  if (!(major >= oldest)) throw errors.create(`has version ${major}; the driver needs PostgreSQL ${oldest} or later`)
  if (encoding !== 'UTF8')
    throw errors.create(`has the encoding ${encoding}, which cannot store all text; create a database with UTF8`)
  if (isReadOnly === 't')
    throw errors.create('is read-only: it is a replica, or default_transaction_read_only is on; use the primary')
  // Otherwise an operator of another role could be the one that the statements mean.
  if (!/^\{(?:pg_temp_\d+,)?pg_catalog[,}]/u.test(String(path)))
    throw errors.create('searches other schemas before pg_catalog; remove pg_catalog from search_path')
  assertTimeLimit(errors, Number(limit), settings.timeout)
  if (settings.durability === 'full') assertDurable(errors, { fsync, full_page_writes, synchronous_commit })
  if (exists !== 't') {
    if (!settings.migrate) {
      throw errors.create(`has no table ${table}; run "grantry storage migrate", or set migrate to true`)
    }
    await createTable(executor, errors, settings)
  }
  await assertTrustworthy(executor, errors, settings)
  await assertTable(executor, errors, table)
}
