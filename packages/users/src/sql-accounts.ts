import { configurationObject, parseConfiguration } from '@grantry/core'
import type { PostgresqlConnectionOptions } from '@grantry/storage-drivers/clients'
import { createConcurrencyLimit, passwordLimits } from './concurrency-limit.ts'
import { createPasswordCheck } from './password-hash/check-password.ts'
import { parsePasswordHash } from './password-hash/parse.ts'
import { createReader, createRows } from './sql/account-rows.ts'
import { accountColumnsOf, claimCells, newSub } from './sql/account-statements.ts'
import type { SqlAccounts } from './sql/account-types.ts'
import { accountCells, createChange, isKept, type WriterDeps } from './sql/change-account.ts'
import { postgresqlClient } from './sql/postgresql.ts'
import { releaseIn } from './sql/release-address.ts'
import { ofName } from './sql/rows-of-name.ts'
import { type SqlUsersInput, sqlUsersSchema } from './sql/sql-options.ts'
import { sqliteClient } from './sql/sqlite.ts'
import { guarded } from './unavailable.ts'
import { isPossible } from './user-database.ts'

export type { SqlAccount, SqlAccounts } from './sql/account-types.ts'

// Errors name the path as in the configuration of a server.
const schema = configurationObject({ users: sqlUsersSchema })

function createCreate(deps: WriterDeps): SqlAccounts['create'] {
  const { options, columns, rows, reader } = deps
  const { sub: subColumn, username: nameColumn } = options.columns
  const cellsOf = accountCells(deps)
  const release = releaseIn(rows, columns.isName)
  return async (account) => {
    const { username, email, emailVerified, password, claims = {} } = account
    if (![username, email ?? 'a'].every(isPossible)) throw new TypeError('The name or address is malformed')
    const sub = newSub()
    const cells = [
      [subColumn, sub] as const,
      [nameColumn, username] as const,
      ...cellsOf.address(isKept(columns, emailVerified) ? email : undefined, emailVerified),
      ...claimCells(claims, columns).filter(([, value]) => value !== null),
      ...(await cellsOf.password(password)),
    ]
    // A column can be the name and the address.
    const once = new Map(cells.map((cell) => [cell[0], cell]))
    const insert = () => rows.write((ready) => ready.insert([...once.values()]))
    // Searches all spellings, because the unique index compares one spelling only.
    if ((await rows.rowBy('byName', username)) !== undefined) return 'taken'
    await insert()
    const created = await reader.find(sub)
    if (created !== undefined) return created
    if (!(await release(email, emailVerified))) return 'taken'
    await insert()
    return (await reader.find(sub)) ?? 'taken'
  }
}

/**
 * Accounts in a table of PostgreSQL or SQLite: that of `sqlUsers()`, with columns for the claims `email` and
 * `email_verified`, and unique indexes on the names and on the addresses. They decide who gets a name or an address. The
 * `sub` of a new account is a UUID.
 *
 * @param more `connection`: the password, if it changes, and TLS with an authority of its own
 * @throws TypeError when an option is malformed. `open()` rejects when the table is unsuitable.
 */
export function sqlAccounts(
  input: SqlUsersInput,
  { connection = {} }: { readonly connection?: PostgresqlConnectionOptions | undefined } = {},
): SqlAccounts {
  const { users: options } = parseConfiguration(schema, { users: input }, '')
  const columns = accountColumnsOf(options)
  const { url, file = '' } = options
  const client =
    url === undefined ? sqliteClient({ ...options, file }) : postgresqlClient({ ...options, url }, connection)
  const rows = createRows(options, client)
  const reader = createReader(columns, rows)
  const { accountOf, find } = reader
  // A limit for this store only: tenants must not wait for each other.
  const limited = createConcurrencyLimit(passwordLimits)
  const deps = { options, columns, rows, reader, limited }
  const create = createCreate(deps)
  const change = createChange(deps)
  const check = createPasswordCheck([])

  return {
    claimNames: columns.others.map(({ claim }) => claim),
    async open() {
      await rows.prepare()
    },
    async close() {
      client.close()
    },
    find: (sub) => guarded(() => find(sub)),
    findByName: (username) => guarded(async () => accountOf(ofName(username, await rows.rowBy('byName', username)))),
    findByEmail: (email) =>
      guarded(async () => {
        const account = accountOf(await rows.rowBy('byEmail', email))
        return account?.emailVerified === true ? account : undefined
      }),
    create: (account) => guarded(() => create(account)),
    change: (sub, changes) => guarded(() => change(sub, changes)),
    checkPassword: (sub, password) =>
      guarded(async () => {
        const hash = (await rows.rowBy('bySub', sub))?.[4]
        return limited(() => check(password, hash == null ? undefined : parsePasswordHash(hash)))
      }),
    remove: (sub) =>
      guarded(async () => {
        if ((await find(sub)) === undefined) return false
        await rows.write(({ remove }) => ({ text: remove, values: [sub] }))
        return true
      }),
  }
}
