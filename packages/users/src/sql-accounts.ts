import { configurationObject, parseConfiguration } from '@grantry/core'
import type { PostgresqlConnectionOptions } from '@grantry/storage-drivers/clients'
import { type ConcurrencyLimit, createConcurrencyLimit, passwordLimits } from './concurrency-limit.ts'
import { createPasswordCheck } from './password-hash/check-password.ts'
import { hashPassword } from './password-hash/new-hash.ts'
import { parsePasswordHash } from './password-hash/parse.ts'
import {
  type AccountColumns,
  accountColumnsOf,
  accountStatements,
  booleanText,
  type Cell,
  claimCells,
  newSub,
  type Statement,
} from './sql/account-statements.ts'
import type { SqlAccount, SqlAccounts } from './sql/account-types.ts'
import { postgresqlClient } from './sql/postgresql.ts'
import { checkTable } from './sql/prepare.ts'
import { releaseIn } from './sql/release-address.ts'
import { isPossible, ofName, rowsOfName } from './sql/rows-of-name.ts'
import type { SqlClient, TextRow } from './sql/sql-client.ts'
import { type SqlUsersInput, type SqlUsersOptions, sqlUsersSchema } from './sql/sql-options.ts'
import { sqliteClient } from './sql/sqlite.ts'
import { claimValue, hasValue, isAddress } from './sql/values.ts'
import { unavailable } from './unavailable.ts'

export type { SqlAccount, SqlAccounts } from './sql/account-types.ts'

// Errors name the path as in the configuration of a server.
const schema = configurationObject({ users: sqlUsersSchema })

function createRows(options: SqlUsersOptions, client: SqlClient) {
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
    // Several rows with one name belong to no one: the index is not unique.
    return rows.length === 1 ? rows[0] : undefined
  }

  return {
    prepare,
    rowBy,
    async write(make: (ready: Awaited<ReturnType<typeof prepare>>) => Statement): Promise<void> {
      const { text, values } = make(await prepare())
      await client.write(text, values)
    },
  }
}

async function guarded<T>(operate: () => Promise<T>): Promise<T> {
  try {
    return await operate()
  } catch (error) {
    throw unavailable(error)
  }
}

type Rows = ReturnType<typeof createRows>

function createReader(columns: AccountColumns, rows: Rows) {
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
    }
  }

  const find = async (sub: string): Promise<SqlAccount | undefined> => {
    const account = accountOf(await rows.rowBy('bySub', sub))
    return account?.sub === sub ? account : undefined
  }

  return { accountOf, find }
}

type Reader = ReturnType<typeof createReader>

/** Whether an address is stored. One that no user has proved must not become a name: it would keep its owner out. */
const isKept = ({ isName }: AccountColumns, isVerified: boolean | undefined): boolean => isVerified === true || !isName

/** Writes accounts. */
function createWriter(
  options: SqlUsersOptions,
  columns: AccountColumns,
  rows: Rows,
  { find }: Reader,
  limited: ConcurrencyLimit,
) {
  const { sub: subColumn, username: nameColumn, password: passwordColumn } = options.columns
  const addressCells = (email: string | undefined, isVerified: boolean | undefined): readonly Cell[] => [
    ...(email === undefined ? [] : [[columns.email, email] as const]),
    ...(isVerified === undefined ? [] : [[columns.emailVerified, booleanText(isVerified)] as const]),
  ]
  const release = releaseIn(rows, columns.isName)
  const passwordCells = async (password: string | undefined): Promise<readonly Cell[]> =>
    password === undefined ? [] : [[passwordColumn, await limited(() => hashPassword(password))]]

  async function change(sub: string, changes: Parameters<SqlAccounts['change']>[1]) {
    const { claims, someClaims = {}, username, email, emailVerified, password, isStillAllowed } = changes
    if (![username ?? 'a', email ?? 'a'].every(isPossible)) throw new TypeError('The name or address is malformed')
    const before = await find(sub)
    if (before === undefined) return undefined
    // A new address is not that which was verified.
    const isVerified = emailVerified ?? (email !== undefined && email !== before.email ? false : undefined)
    const cells = [
      ...(username === undefined ? [] : [[nameColumn, username] as const]),
      ...(email === undefined || isKept(columns, isVerified) ? addressCells(email, isVerified) : []),
      ...claimCells(claims ?? someClaims, columns, claims === undefined),
      ...(await passwordCells(password)),
    ]
    if (cells.length === 0) return before
    if ((await isStillAllowed?.()) === false) return undefined
    // A column can be the name and the address.
    const once = [...new Map(cells.map((cell) => [cell[0], cell])).values()]
    const update = () => rows.write((ready) => ready.update(sub, once))
    try {
      await update()
    } catch (error) {
      // Only an index can say that the address is taken, and each database says it in another way.
      const [owner, sameName] = await Promise.all([
        email === undefined ? undefined : rows.rowBy('byEmail', email),
        username === undefined ? undefined : rows.rowBy('byName', username),
      ])
      if ((sameName?.[0] ?? sub) !== sub) return 'taken' as const
      if ((owner?.[0] ?? sub) === sub) throw error
      if (!(await release(email, isVerified))) return 'taken' as const
      await update()
    }
    return find(sub)
  }

  async function create(account: Parameters<SqlAccounts['create']>[0]) {
    const { username, email, emailVerified, password, claims = {} } = account
    if (![username, email ?? 'a'].every(isPossible)) throw new TypeError('The name or address is malformed')
    const sub = newSub()
    const cells = [
      [subColumn, sub] as const,
      [nameColumn, username] as const,
      ...addressCells(isKept(columns, emailVerified) ? email : undefined, emailVerified),
      ...claimCells(claims, columns).filter(([, value]) => value !== null),
      ...(await passwordCells(password)),
    ]
    // A column can be the name and the address.
    const once = new Map(cells.map((cell) => [cell[0], cell]))
    const insert = () => rows.write((ready) => ready.insert([...once.values()]))
    // The index knows one spelling.
    if ((await rows.rowBy('byName', username)) !== undefined) return 'taken'
    await insert()
    const created = await find(sub)
    if (created !== undefined) return created
    if (!(await release(email, emailVerified))) return 'taken'
    await insert()
    return (await find(sub)) ?? 'taken'
  }

  return { create, change }
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
  // Of this store: those of tenants must not wait for each other.
  const limited = createConcurrencyLimit(passwordLimits)
  const { create, change } = createWriter(options, columns, rows, reader, limited)
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
