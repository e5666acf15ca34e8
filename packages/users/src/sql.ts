import {
  type ActiveQuestion,
  type AuthenticatedUser,
  configurationObject,
  type FoundUser,
  parseConfiguration,
  type UserCredentials,
  type UserQuestion,
} from '@grantry/core'
import type { PostgresqlConnectionOptions } from '@grantry/storage-drivers/clients'
import { createConcurrencyLimit, passwordLimits } from './concurrency-limit.ts'
import { createPasswordCheck, type PasswordCheck } from './password-hash/check-password.ts'
import type { Derive } from './password-hash/derive.ts'
import { hashPassword, needsRehash } from './password-hash/new-hash.ts'
import { type PasswordHash, parsePasswordHash, passwordHashProblem } from './password-hash/parse.ts'
import { readableClaims } from './readable-claims.ts'
import { createReadings } from './readings.ts'
import { postgresqlClient } from './sql/postgresql.ts'
import { checkTable, sampleHashes } from './sql/prepare.ts'
import { isOfName, rowsOfName } from './sql/rows-of-name.ts'
import type { RowStatement, SqlClient, TextRow } from './sql/sql-client.ts'
import { type SqlUsersInput, type SqlUsersOptions, sqlUsersSchema } from './sql/sql-options.ts'
import { sqliteClient } from './sql/sqlite.ts'
import { activeOf, claimsOf, statementsOf } from './sql/user-statements.ts'
import { claimValue, hasValue, isAddress } from './sql/values.ts'
import { unavailable, unusableRecord } from './unavailable.ts'
import { isPossible, type UserDatabase } from './user-database.ts'

export type { SqlUsersInput } from './sql/sql-options.ts'
export type { UserDatabase } from './user-database.ts'

// Errors name the path as in the configuration of a server.
const schema = configurationObject({ users: sqlUsersSchema })

function clientOf(options: SqlUsersOptions, connection: PostgresqlConnectionOptions): SqlClient {
  const { url, file = '' } = options
  return url === undefined ? sqliteClient({ ...options, file }) : postgresqlClient({ ...options, url }, connection)
}

/** Users without a password have no hash, or one that no password matches: `!` of Django, `*` of Unix. */
const isAbsent = (text: string | null): boolean => text === null || text === '' || /^[!*]/u.test(text)

/** The error of a start, which begins with the path of a setting. */
const startFailure = (error: unknown): Error => {
  const { message } = error as Error
  return new Error(message.startsWith('users') ? message : `users: ${message}`)
}

/** Opens once; after a failure the next call tries again. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined
  return () => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
}

/** Returns the row with exactly this `sub`: the database may have compared it in another way, such as `007` and `7`. */
function rowOf(rows: readonly TextRow[], sub: string): TextRow | undefined {
  const [row, second] = rows
  if (second !== undefined) throw unusableRecord(`users.columns.sub: several users have the sub ${JSON.stringify(sub)}`)
  return row?.[0] === sub ? row : undefined
}

/** Reads the table. */
function createTable(options: SqlUsersOptions, client: SqlClient, derive: Derive | undefined) {
  let statements = statementsOf(options, client)
  const active = activeOf(options)
  const claims = claimsOf(options)
  const { username } = options.columns
  const isActive = (text: string | null | undefined): boolean =>
    active === undefined || hasValue(text ?? null, active.equals)

  const readings = createReadings<TextRow | undefined>()

  const rowBy = async (statement: RowStatement, sub: string): Promise<TextRow | undefined> =>
    isPossible(sub) ? rowOf(await client.rowsOf(statement, sub), sub) : undefined

  const prepare = once(async () => {
    statements = await checkTable(options, client)
    return createPasswordCheck(await sampleHashes(client, statements), derive)
  })

  return {
    prepare,
    async byName(username: string) {
      const rows = await rowsOfName(username, options.caseSensitive, (spelling) =>
        client.read(statements.byName, [spelling]),
      )
      const [row] = rows
      const [sub, hash, name, state] = row ?? []
      if (row === undefined || !isOfName(username, name)) return undefined
      return { sub: sub ?? '', text: hash ?? null, isActive: isActive(state), isDuplicate: rows.length > 1 }
    },
    async isActive(sub: string, question?: ActiveQuestion): Promise<boolean> {
      if (question?.request === undefined || claims.length === 0) {
        const row = await rowBy(statements.bySub, sub)
        return row !== undefined && isActive(row[1])
      }
      const row = await rowBy(statements.profile, sub)
      readings.keep(question, sub, row)
      return row !== undefined && isActive(row[claims.length + 1])
    },
    async claims(sub: string, names: readonly string[], question?: UserQuestion) {
      if (claims.length === 0) return {}
      const [, ...values] = (await readings.of(question, sub, () => rowBy(statements.profile, sub))) ?? []
      const wanted = claims.map((column, index) => ({ column, text: values[index] ?? null }))
      return Object.fromEntries(
        wanted
          .filter(({ column }) => names.includes(column.claim))
          .filter(({ column, text }) => column.claim !== 'email' || isAddress(text ?? '', column.column === username))
          .map(({ column, text }) => [column.claim, claimValue(text, column)]),
      )
    },
    async find(subOrName: string): Promise<readonly FoundUser[]> {
      if (!isPossible(subOrName)) return []
      const [withSub, named] = await Promise.all([
        client.read(statements.foundBySub, [subOrName]),
        rowsOfName(subOrName, options.caseSensitive, (spelling) => client.read(statements.foundByName, [spelling])),
      ])
      const rowWithSub = rowOf(withSub, subOrName)
      const others = named.filter(([sub, name]) => sub !== rowWithSub?.[0] && isOfName(subOrName, name))
      return [...(rowWithSub === undefined ? [] : [rowWithSub]), ...others].map(([sub, username, ...values]) => ({
        sub: sub ?? '',
        ...(username != null && { username }),
        active: isActive(values[claims.length]),
        claims: readableClaims(
          claims.map((column, index) => ({ ...column, index })),
          ({ index, ...column }) => claimValue(values[index] ?? null, column),
        ),
      }))
    },
    rehash: (sub: string, from: string, to: string) => client.write(statements.rehash, [to, sub, from]),
  }
}

type Table = ReturnType<typeof createTable>
type Found = NonNullable<Awaited<ReturnType<Table['byName']>>>

const problemOf = ({ sub, text, isDuplicate }: Found, hash: PasswordHash | undefined): string | undefined => {
  if (isDuplicate) return 'users.columns.username: several users have this name; make the index of the names unique'
  if (hash !== undefined || isAbsent(text)) return undefined
  return `users.columns.password: the hash of the user with the sub ${JSON.stringify(sub)} cannot be checked: ${passwordHashProblem(text ?? '')}`
}

/** Replaces an old hash by a new one, unless another process has changed it. */
async function replaceHash(table: Table, { sub, text }: Found, password: string): Promise<void> {
  await table.rehash(sub, text ?? '', await hashPassword(password))
}

/** @param check does the same work for an unknown user */
async function signIn(
  table: Table,
  check: PasswordCheck,
  { username, password }: UserCredentials,
  rehash: boolean,
): Promise<AuthenticatedUser | undefined> {
  const row = await table.byName(username)
  const hash = row === undefined || isAbsent(row.text) ? undefined : parsePasswordHash(row.text ?? '')
  const matches = await check(password, row?.isDuplicate ? undefined : hash)
  const problem = row === undefined ? undefined : problemOf(row, hash)
  if (problem !== undefined) throw unusableRecord(problem)
  if (!matches || row === undefined || !row.isActive) return undefined
  if (rehash && hash !== undefined && needsRehash(hash)) await replaceHash(table, row, password)
  return { sub: row.sub }
}

/**
 * Reads users from a table of PostgreSQL or SQLite: one statement for a sign-in, one for the state of a user, with the claims
 * if the request asks for them. In PostgreSQL, requests of one moment share their statements. While the database does not
 * respond, requests get 503.
 *
 * @param more `connection`: the password, if it changes, and TLS with an authority of its own. `derive` replaces the
 * computation of hashes in tests
 * @throws TypeError when an option is malformed. `open()` rejects when the table is unsuitable.
 * @example
 * const users = sqlUsers({
 *   url: 'postgresql://reader:the-password@127.0.0.1/app',
 *   table: 'accounts',
 *   columns: { sub: 'id', username: 'email', password: 'password_hash', claims: { email: 'email' } },
 * })
 */
export function sqlUsers(
  input: SqlUsersInput,
  {
    connection = {},
    derive,
  }: { readonly connection?: PostgresqlConnectionOptions | undefined; readonly derive?: Derive | undefined } = {},
): UserDatabase {
  const { users: options } = parseConfiguration(schema, { users: input }, '')
  const client = clientOf(options, connection)
  const table = createTable(options, client, derive)
  const limited = createConcurrencyLimit(passwordLimits)

  /** Prepares first: an unsuitable table is not read. */
  const prepared = async <T>(operate: (check: PasswordCheck) => Promise<T>): Promise<T> => {
    try {
      return await operate(await table.prepare())
    } catch (error) {
      throw unavailable(error)
    }
  }

  return {
    async open() {
      try {
        await table.prepare()
      } catch (error) {
        throw startFailure(error)
      }
    },
    async close() {
      client.close()
    },
    authenticate: (credentials) =>
      prepared((check) =>
        signIn(table, (password, hash) => limited(() => check(password, hash)), credentials, options.rehash),
      ),
    isActive: (sub, question) => prepared(() => table.isActive(sub, question)),
    claims: (sub, names, question) => prepared(() => table.claims(sub, names, question)),
    find: (subOrName) => prepared(() => table.find(subOrName)),
  }
}
