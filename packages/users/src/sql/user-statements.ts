import { quoted, type RowStatement, rowStatement, type SqlClient } from './sql-client.ts'
import type { SqlUsersOptions } from './sql-options.ts'
import type { ClaimColumn } from './values.ts'

/** The statements of a table. Each reads at most two rows, to notice duplicates. */
export interface Statements {
  /** Parameter: the name. Returns the `sub`, the hash, the name and the column of active users. */
  readonly byName: string
  /** Returns the `sub` and the column of active users. */
  readonly bySub: RowStatement
  /** Returns the `sub`, the claims and the column of active users. */
  readonly profile: RowStatement
  /** Parameter: the `sub`. Returns the `sub`, the name, the claims and the column of active users. */
  readonly foundBySub: string
  /** Like `foundBySub`. Parameter: the name. */
  readonly foundByName: string
  /** Parameters: the new hash, the `sub`, the old hash. */
  readonly rehash: string
  /** Returns some of the hashes. */
  readonly sample: string
}

/** The columns that the options name, with the path of each. */
export const columnsOf = ({ columns }: SqlUsersOptions): readonly (readonly [path: string, column: string])[] => {
  const { sub, username, password, active, claims } = columns
  const nameIn = (value: string | { readonly column: string }, path: string): readonly [string, string] =>
    typeof value === 'string' ? [path, value] : [`${path}.column`, value.column]
  return [
    ['users.columns.sub', sub],
    ['users.columns.username', username],
    ['users.columns.password', password],
    ...(active === undefined ? [] : [nameIn(active, 'users.columns.active')]),
    ...Object.entries(claims).map(([name, value]) => nameIn(value, `users.columns.claims.${name}`)),
  ]
}

/** The claims with their columns and types. */
export const claimsOf = ({ columns }: SqlUsersOptions): readonly ClaimColumn[] =>
  Object.entries(columns.claims).map(([claim, value]) =>
    typeof value === 'string' ? { claim, column: value, type: 'string' } : { claim, ...value },
  )

/** The column that active users have a value in; `undefined` if all users are active. */
export const activeOf = ({ columns: { active } }: SqlUsersOptions) =>
  typeof active === 'string' ? { column: active, equals: true } : active

export function statementsOf(options: SqlUsersOptions, { table, dialect }: SqlClient): Statements {
  const { columns, caseSensitive } = options
  const { sub, username, password } = columns
  const active = activeOf(options)
  const shownActive = active === undefined ? [] : [active.column]
  // Gives each column an alias, because two columns of a row could have the same name.
  const select = (names: readonly string[]): string =>
    `SELECT ${names.map((name, index) => `${dialect.text(name)} AS c${index}`).join(', ')} FROM ${table}`
  const hasSub = dialect.equals(sub, 1)
  const hasName = dialect.sameName(username, caseSensitive)
  const shownClaims = claimsOf(options).map(({ column }) => column)
  const selectFound = select([sub, username, ...shownClaims, ...shownActive])
  return {
    byName: `${select([sub, password, username, ...shownActive])} WHERE ${hasName} LIMIT 2`,
    bySub: rowStatement(select([sub, ...shownActive]), sub, dialect),
    profile: rowStatement(select([sub, ...shownClaims, ...shownActive]), sub, dialect),
    foundBySub: `${selectFound} WHERE ${hasSub} LIMIT 2`,
    foundByName: `${selectFound} WHERE ${hasName} LIMIT 2`,
    rehash: `UPDATE ${table} SET ${quoted(password)} = ${dialect.parameter(1)} WHERE ${dialect.equals(sub, 2)} AND ${dialect.equals(password, 3)}`,
    sample: `${select([password])} LIMIT 200`,
  }
}
