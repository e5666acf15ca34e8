import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadEngine } from '@grantry/storage-drivers/clients'
import type { SqlUsersInput } from '@grantry/users/options'
import { sqlUsers } from '@grantry/users/sql'
import { afterAll, describe } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { foreignHashes } from '../users/hash-vectors.ts'

/** What the host has, beside what `sqlUsers()` reads. */
export interface HostDatabase {
  /** `url` or `file`. */
  readonly where: Pick<SqlUsersInput, 'url' | 'file'>
  /** Performs a statement of the host. */
  run(sql: string): Promise<void>
}

/** The names in it need quotes. */
export const mapping = {
  // A busy machine is no outage.
  operationTimeout: 60,
  table: 'the "accounts"',
  columns: {
    sub: 'id',
    username: 'user name',
    password: 'hash',
    active: 'enabled',
    claims: {
      name: 'select',
      email: 'email',
      email_verified: { column: 'verified', type: 'boolean' },
      updated_at: { column: 'changed', type: 'number' },
      address: { column: 'place', type: 'json' },
    },
  },
} as const satisfies Omit<SqlUsersInput, 'url' | 'file'>

/** The name of the table in SQL. */
export const quotedTable = '"the ""accounts"""'

const literal = (text: string | null): string => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`)

const accounts: readonly (readonly [id: string, name: string, hash: string | null, enabled: boolean])[] = [
  ['a-1', 'Alice', foreignHashes['bcrypt $2b$'] ?? null, true],
  ['b-2', 'bob', foreignHashes.argon2id ?? null, true],
  ['c-3', 'carol', foreignHashes['Django pbkdf2_sha256'] ?? null, false],
  ['d-4', 'dave', null, true],
  ['e-5', 'erin', '!no password', true],
  ['f-6', 'frank', '$2b$31$zxlzcaBcql3BVNIWst.SMOSxFkptDASYTuifhpcoI4zfoGj5yXMPy', true],
]

/** The table of the mapping with six accounts. All have the password of the vectors. */
export const accountsScript = (isPostgresql: boolean): readonly string[] => [
  `CREATE TABLE ${quotedTable} (id TEXT PRIMARY KEY, "user name" TEXT NOT NULL, hash TEXT, enabled BOOLEAN NOT NULL,
    "select" TEXT, email TEXT, verified BOOLEAN, changed INTEGER, place TEXT)`,
  `CREATE INDEX names ON ${quotedTable} (${isPostgresql ? 'lower("user name")' : '"user name" COLLATE NOCASE'})`,
  ...accounts.map(
    ([id, name, hash, enabled]) =>
      `INSERT INTO ${quotedTable} (id, "user name", hash, enabled) VALUES (${literal(id)}, ${literal(name)}, ${literal(hash)}, ${enabled})`,
  ),
  `UPDATE ${quotedTable} SET "select" = 'Alice Smith', email = 'alice@example.com', verified = true, changed = 1700000000,
    place = '{"country":"NZ"}' WHERE id = 'a-1'`,
]

/** A new file. Removed after the tests of the file. */
export function openSqlite(): HostDatabase {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-users-'))
  const file = join(directory, 'app.db')
  const connection = loadEngine()(file)
  afterAll(() => {
    connection.close()
    rmSync(directory, { recursive: true })
  })
  return { where: { file }, run: async (sql) => connection.run(sql) }
}

/** Runs tests on each database, with a new one for each suite. */
export function describeDatabases(
  name: string,
  define: (open: () => Promise<HostDatabase>, isPostgresql: boolean) => void,
): void {
  describe(`${name}, in SQLite`, () => define(async () => openSqlite(), false))
  describeWithPostgresql(`${name}, in PostgreSQL`, () => {
    const start = postgresqlServers()
    define(async () => {
      const { url, query } = await start()
      return { where: { url }, run: async (sql) => void (await query(sql)) }
    }, true)
  })
}

/** Users that are closed after the test file. */
export function usersFactory() {
  const opened: { close(): Promise<void> }[] = []
  afterAll(() => Promise.all(opened.map((users) => users.close())))
  return (input: SqlUsersInput) => {
    const users = sqlUsers(input)
    opened.push(users)
    return users
  }
}
