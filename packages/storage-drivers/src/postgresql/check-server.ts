import type { Statement } from './connection.ts'
import { codeOf, type Errors } from './errors.ts'
import type { Executor } from './executor.ts'
import type { PostgresqlSettings } from './options.ts'
import { postgresqlMigration, schemaVersion } from './schema.ts'
import { tableOf } from './statements.ts'

/** The oldest supported version. */
const oldest = 14

const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

/** Settings of the server with which it keeps confirmed writes in a crash. */
const durable: Readonly<Record<string, string>> = { fsync: 'on', full_page_writes: 'on' }

const inspection: Statement = {
  name: 'grantry_inspect',
  text: `SELECT current_setting('server_version_num'), current_setting('server_encoding'),
    pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    to_regclass($1) IS NOT NULL`,
}

async function one(executor: Executor, statement: Statement, values: readonly unknown[]): Promise<readonly unknown[]> {
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

async function createTable(executor: Executor, errors: Errors, settings: PostgresqlSettings): Promise<void> {
  const { schema, prefix } = settings
  const script: Statement = { name: '', text: postgresqlMigration(settings) }
  try {
    await executor.write(() => ({ statement: script, values: [] }))
  } catch (error) {
    if (codeOf(error) !== '42501') throw error
    throw errors.create(
      `has no table ${tableOf({ schema, prefix })}, and this user may not create it; run "grantry storage migrate" as a user with CREATE on schema ${schema}, or grant that right`,
    )
  }
}

async function assertTable(executor: Executor, errors: Errors, table: string): Promise<void> {
  const columns = rights.map((right) => `has_table_privilege($1, '${right}')`).join(', ')
  const held = await one(executor, { name: 'grantry_rights', text: `SELECT ${columns}` }, [table])
  const missing = rights.filter((_, index) => held[index] !== 't')
  if (missing.length > 0) throw errors.create(`gives this user no right to ${missing.join(', ')} on ${table}`)
  const text = `SELECT value FROM ${table} WHERE key = ''::bytea`
  const [version] = await one(executor, { name: 'grantry_version', text }, []).catch((error: unknown) => {
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
  const found = await one(executor, inspection, [table])
  const [version, encoding, isReadOnly, fsync, full_page_writes, synchronous_commit, exists] = found
  const major = Math.floor(Number(version) / 10_000)
  if (!(major >= oldest)) throw errors.create(`has version ${major}; the driver needs PostgreSQL ${oldest} or later`)
  if (encoding !== 'UTF8')
    throw errors.create(`has the encoding ${encoding}, which cannot store all text; create a database with UTF8`)
  if (isReadOnly === 't')
    throw errors.create('is read-only: it is a replica, or default_transaction_read_only is on; use the primary')
  if (settings.durability === 'full') assertDurable(errors, { fsync, full_page_writes, synchronous_commit })
  if (exists !== 't') {
    if (!settings.migrate) {
      throw errors.create(`has no table ${table}; run "grantry storage migrate", or set migrate to true`)
    }
    await createTable(executor, errors, settings)
  }
  await assertTable(executor, errors, table)
}
