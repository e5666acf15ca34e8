import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** A table with users, as `sqlUsers()` reads it. */
export interface UsersTable {
  /** The URL of PostgreSQL, or the absolute path of a SQLite file. */
  readonly database: string
  readonly table: string
  readonly columns: Columns
}

interface Columns {
  readonly sub: string
  readonly username: string
  readonly password: string
  readonly active?: string | undefined
  readonly claims: Readonly<Record<string, string | { readonly column: string; readonly type: 'boolean' }>>
}

export const isPostgresql = (database: string): boolean => /^postgres(?:ql)?:\/\//iu.test(database)

/** The names that columns usually have, the most telling first. */
const usual = {
  sub: [/^id$/iu, /^sub$/iu, /^(?:uu|user_?)id$/iu],
  username: [/^(?:user_?name|login)$/iu, /^e?_?mail(?:_?address)?$/iu],
  password: [/^pass(?:word|wd)?_?hash$/iu, /^pass(?:word|wd)?$/iu, /password/iu],
  active: [/^(?:is_?)?(?:active|enabled)$/iu],
  name: [/^(?:display|full)_?name$/iu, /^name$/iu],
  email: [/^e?_?mail(?:_?address)?$/iu],
  email_verified: [/^e?mail_?verified$/iu],
}

/**
 * Returns the columns of the id, the name and the password.
 *
 * @throws TypeError with the columns if no id, name or password is among them.
 */
export function columnsOf(names: readonly string[], table: string): Columns {
  const find = (what: keyof typeof usual): string | undefined =>
    usual[what].map((form) => names.find((name) => form.test(name))).find((name) => name !== undefined)
  const [sub, username, password] = [find('sub'), find('username'), find('password')]
  if (sub === undefined || username === undefined || password === undefined) {
    throw new TypeError(
      `the table ${table} has the columns ${names.join(', ')}: none is known as the id, the name or the password of a user; choose --users new, and name the columns in grantry.ts`,
    )
  }
  const [name, email, verified, active] = [find('name'), find('email'), find('email_verified'), find('active')]
  return {
    sub,
    username,
    password,
    ...(active !== undefined && { active }),
    claims: {
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
      ...(email !== undefined && verified !== undefined && { email_verified: { column: verified, type: 'boolean' } }),
    },
  }
}

/** Runs a query with the command line of the database. @throws TypeError with its output if it fails. */
function query(program: string, parameters: readonly string[], password = ''): readonly string[] {
  const env = { ...process.env, ...(password !== '' && { PGPASSWORD: password }) }
  const { status, stdout, stderr, error } = spawnSync(program, parameters, { encoding: 'utf8', env })
  if (status === 0) return stdout.split(/\r?\n/u).filter((line) => line !== '')
  throw new TypeError(`the columns cannot be read with ${program}: ${error?.message ?? stderr.trim()}`)
}

/** Decodes as PostgreSQL does: a plus is no space. @throws TypeError */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new TypeError('--database has a percent sign without two digits; write it as %25', { cause })
  }
}

/**
 * Splits the password from the URL: other users of this machine can read the arguments of a program.
 *
 * @throws TypeError if the URL is malformed, or has the password of a key, which psql accepts only as an argument.
 */
function withoutPassword(database: string): { readonly url: string; readonly password: string } {
  if (!URL.canParse(database)) throw new TypeError('--database is a malformed URL')
  const url = new URL(database)
  const settings = url.search.slice(1).split('&')
  const valuesOf = (name: string): readonly string[] =>
    settings.filter((setting) => decoded(setting.split('=', 1)[0] ?? '') === name)
  if (valuesOf('sslpassword').length > 0) {
    throw new TypeError('--database has an sslpassword, which other users of this machine could see; leave it out')
  }
  const passwords = valuesOf('password')
  const password = decoded(passwords.at(-1)?.replace(/^[^=]*=?/u, '') ?? url.password)
  url.password = ''
  url.search = settings.filter((setting) => !passwords.includes(setting)).join('&')
  return { url: url.href, password }
}

function columnNames(database: string, table: string): readonly string[] {
  if (isPostgresql(database)) {
    const { url, password } = withoutPassword(database)
    const sql = `select column_name from information_schema.columns where table_schema = 'public' and table_name = '${table}' order by ordinal_position`
    return query('psql', ['-X', '-At', '-c', sql, url], password)
  }
  // The command line creates a missing file.
  if (!existsSync(database)) throw new TypeError(`there is no SQLite file ${database}`)
  return query('sqlite3', ['-readonly', database, `select name from pragma_table_info('${table}')`])
}

/**
 * Reads the columns of a table.
 *
 * @param database the URL of PostgreSQL, or the path of a SQLite file
 * @throws TypeError with one sentence if there is no such table, or its columns are unknown.
 */
export function readUsersTable(database: string | undefined, table: string | undefined): UsersTable {
  if (database === undefined || table === undefined) {
    throw new TypeError('--users table needs --database, a URL of PostgreSQL or a SQLite file, and --table, its name')
  }
  if (!/^\w+$/u.test(table)) throw new TypeError('--table must be a name of letters, digits and _')
  const place = isPostgresql(database) ? database : resolve(database)
  const names = columnNames(place, table)
  if (names.length === 0) throw new TypeError(`the database has no table ${table}`)
  return { database: place, table, columns: columnsOf(names, table) }
}

/** The table that `users.sql` creates. */
export const newTable = (database: string): UsersTable => ({
  database,
  table: 'users',
  columns: {
    sub: 'id',
    username: 'username',
    password: 'password',
    claims: { name: 'display_name', email: 'email', email_verified: { column: 'email_verified', type: 'boolean' } },
  },
})

/** Returns `users.sql`, which creates the table. Names and addresses that differ in case belong to one user. */
export function usersSql({ database }: UsersTable): string {
  const isSqlite = !isPostgresql(database)
  const folded = (column: string): string => (isSqlite ? `${column} COLLATE NOCASE` : `lower(${column})`)
  return `\
CREATE TABLE users (
  id text PRIMARY KEY,
  username text NOT NULL,
  email text,
  email_verified boolean NOT NULL DEFAULT false,
  display_name text,
  password text
);
CREATE UNIQUE INDEX users_username ON users (${folded('username')});
CREATE UNIQUE INDEX users_email ON users (${folded('email')});
`
}
