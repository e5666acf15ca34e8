import { type PasswordHash, parsePasswordHash } from '../password-hash/parse.ts'
import type { SqlClient } from './sql-client.ts'
import type { SqlUsersOptions } from './sql-options.ts'
import { columnsOf, type Statements, statementsOf } from './user-statements.ts'

/** The length of a new hash in characters, with room for later costs. */
const hashLength = 100

/** Costs that are known at the start; others are learned. */
const maxKnownCosts = 8

/**
 * Checks the table, its columns, its indexes and the rights, and returns its statements.
 *
 * @throws Error that begins with the path of a setting
 */
export async function checkTable(options: SqlUsersOptions, client: SqlClient): Promise<Statements> {
  const columns = await client.columns()
  if (columns === undefined) {
    throw new Error(`users.table: the database has no table ${client.table}; correct its name, or the schema`)
  }
  const names = columns.map(({ name }) => name)
  for (const [path, column] of columnsOf(options)) {
    if (names.includes(column)) continue
    throw new Error(`${path}: the table ${client.table} has no column "${column}"; it has ${names.join(', ')}`)
  }
  const { columns: mapped, caseSensitive, rehash } = options
  const statements = statementsOf(options, client)
  if (!(await client.usesIndex(statements.byName, ['a']))) {
    throw new Error(
      `users.columns.username: no index finds a name, so each sign-in would read the whole table; run ${client.indexFor(mapped.username, caseSensitive)}, or set caseSensitive to ${!caseSensitive}`,
    )
  }
  if (!(await client.usesIndex(statements.bySub.oneRow, ['1']).catch(isOfAnotherType))) {
    throw new Error(
      `users.columns.sub: no index finds a sub, so each request would read the whole table; run ${client.indexFor(mapped.sub, true)}`,
    )
  }
  if (!rehash) return statements
  const { maxLength = hashLength } = columns.find(({ name }) => name === mapped.password) ?? {}
  if (maxLength < hashLength) {
    throw new Error(
      `users.rehash: the column "${mapped.password}" has ${maxLength} characters, and a new hash needs ${hashLength}; change its type, or set rehash to false`,
    )
  }
  if (!(await client.mayWrite(statements.rehash, ['a', '1', 'a']).catch(isOfAnotherType))) {
    throw new Error(`users.rehash: this user may not update ${client.table}; grant UPDATE, or set rehash to false`)
  }
  return statements
}

/** Whether `'1'` is no value of the column, such as one of UUIDs. The plan of such a column was not made. */
function isOfAnotherType(error: unknown): boolean {
  if ((error as { readonly code?: unknown }).code === '22P02') return true
  throw error
}

/** Returns a hash for each cost among some of the hashes, so that an unknown user takes the same work from the start. */
export async function sampleHashes(client: SqlClient, statements: Statements): Promise<readonly PasswordHash[]> {
  const rows = await client.read(statements.sample, [])
  const byCost = new Map<string, PasswordHash>()
  for (const [text] of rows) {
    const hash = text == null ? undefined : parsePasswordHash(text)
    if (hash !== undefined && byCost.size < maxKnownCosts) byCost.set(JSON.stringify(hash.cost), hash)
  }
  return [...byCost.values()]
}
