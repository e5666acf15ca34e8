import { type Json, webRuntime } from '@grantry/core'
import { quoted, rowStatement, type SqlClient } from './sql-client.ts'
import type { SqlUsersOptions } from './sql-options.ts'
import { activeOf, claimsOf } from './user-statements.ts'
import type { ClaimColumn } from './values.ts'

/** A statement with its values. Every value is a parameter, except NULL. */
export interface Statement {
  readonly text: string
  readonly values: readonly string[]
}

/** A value for a column; `null` empties it. */
export type Cell = readonly [column: string, value: string | null]

/** The columns that an account needs besides those of a sign-in. */
export interface AccountColumns {
  readonly email: string
  readonly emailVerified: string
  /** Whether the column of the address has the names, too. */
  readonly isName: boolean
  /** The other claims. */
  readonly others: readonly ClaimColumn[]
}

/** @throws TypeError if the options name no columns for the address */
export function accountColumnsOf(options: SqlUsersOptions): AccountColumns {
  const claims = claimsOf(options)
  const named = (claim: string): string => {
    const mapped = claims.find((candidate) => candidate.claim === claim)
    if (mapped === undefined) throw new TypeError(`users.columns.claims.${claim} is required: accounts need its column`)
    return mapped.column
  }
  const others = claims.filter(({ claim }) => claim !== 'email' && claim !== 'email_verified')
  const email = named('email')
  return { email, emailVerified: named('email_verified'), isName: email === options.columns.username, others }
}

/** Both databases read it as a boolean. */
export const booleanText = (value: boolean): string => (value ? '1' : '0')

/**
 * Returns the cells of claims. Those without a column are left out; columns without a claim are emptied.
 *
 * @param some whether columns without a claim are left out, too
 */
export const claimCells = (
  claims: Readonly<Record<string, Json>>,
  { others }: AccountColumns,
  some = false,
): readonly Cell[] =>
  others
    .filter(({ claim }) => !some || Object.hasOwn(claims, claim))
    .map(({ claim, column, type }) => {
      const value = claims[claim]
      if (value === undefined || value === null) return [column, null]
      if (type === 'boolean') return [column, booleanText(value === true)]
      return [column, type === 'json' || typeof value === 'object' ? JSON.stringify(value) : String(value)]
    })

/** A `sub` that fits columns of text and of UUIDs. @see RFC 9562 section 5.4 */
export function newSub(): string {
  const bytes = webRuntime.randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}

/** The statements of accounts. The columns of the client must have been read. */
export function accountStatements(options: SqlUsersOptions, { table, dialect }: SqlClient) {
  const { columns, caseSensitive } = options
  const accounts = accountColumnsOf(options)
  const active = activeOf(options)
  const shown = [columns.sub, columns.username, accounts.email, accounts.emailVerified]
  const all = [...shown, columns.password, ...accounts.others.map(({ column }) => column)]
  const select = `SELECT ${all.map((name, index) => `${dialect.text(name)} AS c${index}`).join(', ')} FROM ${table}`

  /** Numbers the parameters in the order in which they appear, because those of SQLite have no numbers. */
  function cellsOf(cells: readonly Cell[]) {
    const values: string[] = []
    const texts = cells.map(([, value]) => {
      if (value === null) return 'NULL'
      values.push(value)
      return dialect.parameter(values.length)
    })
    return { texts, values }
  }

  return {
    accounts,
    bySub: rowStatement(select, columns.sub, dialect),
    byName: `${select} WHERE ${dialect.sameName(columns.username, caseSensitive)} LIMIT 2`,
    byEmail: `${select} WHERE ${dialect.sameName(accounts.email, false)} LIMIT 2`,
    remove: `DELETE FROM ${table} WHERE ${dialect.equals(columns.sub, 1)}`,
    /** Inserts nothing if a unique index has the name or the address already. */
    insert(cells: readonly Cell[]): Statement {
      const state: readonly Cell[] =
        active === undefined || active.equals === null
          ? []
          : [[active.column, typeof active.equals === 'boolean' ? booleanText(active.equals) : String(active.equals)]]
      const written = [...cells, ...state]
      const { texts, values } = cellsOf(written)
      const names = written.map(([column]) => quoted(column)).join(', ')
      return { text: `INSERT INTO ${table} (${names}) VALUES (${texts.join(', ')}) ON CONFLICT DO NOTHING`, values }
    },
    /** Takes the address from a row in which it is not verified. */
    releaseAddress(sub: string): Statement {
      const verified = quoted(accounts.emailVerified)
      const isUnverified = `(${verified} IS NULL OR ${verified} = ${dialect.parameter(2)})`
      return {
        text: `UPDATE ${table} SET ${quoted(accounts.email)} = NULL WHERE ${dialect.equals(columns.sub, 1)} AND ${isUnverified}`,
        values: [sub, booleanText(false)],
      }
    },
    /** Returns the `sub` of the changed row; no row if another call has changed a cell of `before`. */
    update(sub: string, cells: readonly Cell[], before: readonly Cell[] = []): Statement {
      const { texts, values } = cellsOf(cells)
      const assignments = cells.map(([column], index) => `${quoted(column)} = ${texts[index]}`).join(', ')
      const conditions = [[columns.sub, sub] as const, ...before].map(([column, value]) => {
        if (value === null) return `${quoted(column)} IS NULL`
        values.push(value)
        return dialect.equals(column, values.length)
      })
      return {
        text: `UPDATE ${table} SET ${assignments} WHERE ${conditions.join(' AND ')} RETURNING ${dialect.text(columns.sub)} AS c0`,
        values,
      }
    },
  }
}
