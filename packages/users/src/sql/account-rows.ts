import { webRuntime } from '@grantry/core'
import { isPossible } from '../user-database.ts'
import { type AccountColumns, accountStatements, type Statement } from './account-statements.ts'
import type { SqlAccount } from './account-types.ts'
import { checkTable } from './prepare.ts'
import { rowsOfName } from './rows-of-name.ts'
import type { SqlClient, TextRow } from './sql-client.ts'
import type { SqlUsersOptions } from './sql-options.ts'
import { claimValue, hasValue, isAddress } from './values.ts'

export function createRows(options: SqlUsersOptions, client: SqlClient) {
  let statements: ReturnType<typeof accountStatements> | undefined
  async function prepare() {
    if (statements !== undefined) return statements
    await checkTable(options, client)
    const created = accountStatements(options, client)
    if (!(await client.usesIndex(created.byEmail, ['a']))) {
      const { email } = created.accounts
      throw new Error(
        `users.columns.claims.email: no index finds an address; run ${client.indexFor(email, false).replace('users_by_name', 'users_by_address')}`,
      )
    }
    statements = created
    return created
  }

  async function rowBy(key: 'bySub' | 'byName' | 'byEmail', text: string): Promise<TextRow | undefined> {
    const ready = await prepare()
    const rows =
      key === 'bySub'
        ? await client.rowsOf(ready.bySub, isPossible(text) ? text : '\u{FFFD}')
        : await rowsOfName(text, key === 'byName' && options.caseSensitive, (name) => client.read(ready[key], [name]))
    // Several rows with one name belong to no user: the index is not unique.
    return rows.length === 1 ? rows[0] : undefined
  }

  return {
    prepare,
    rowBy,
    async write(make: (ready: Awaited<ReturnType<typeof prepare>>) => Statement): Promise<void> {
      const { text, values } = make(await prepare())
      await client.write(text, values)
    },
    /** Returns whether a row was changed. */
    async update(...values: Parameters<ReturnType<typeof accountStatements>['update']>): Promise<boolean> {
      const { text, values: parameters } = (await prepare()).update(...values)
      return (await client.returning(text, parameters)).length > 0
    },
  }
}

export type Rows = ReturnType<typeof createRows>

export function createReader(columns: AccountColumns, rows: Rows) {
  function accountOf(row: TextRow | undefined): SqlAccount | undefined {
    if (row === undefined) return undefined
    const [sub, username, email, verified, , ...values] = row
    const claims = columns.others.flatMap((column, index) => {
      const value = claimValue(values[index] ?? null, column)
      return value === undefined ? [] : [[column.claim, value] as const]
    })
    return {
      sub: sub ?? '',
      username: username ?? '',
      ...(email != null && isAddress(email, columns.isName) && { email }),
      emailVerified: hasValue(verified ?? null, true),
      claims: Object.fromEntries(claims),
      // A digest, because the row has the hash of the password, which must not leave this module.
      version: webRuntime.sha256Hex(JSON.stringify(row)),
    }
  }

  async function read(sub: string) {
    const row = await rows.rowBy('bySub', sub)
    const account = accountOf(row)
    return row !== undefined && account?.sub === sub ? { row, account } : undefined
  }

  return { accountOf, read, find: async (sub: string) => (await read(sub))?.account }
}

export type Reader = ReturnType<typeof createReader>
