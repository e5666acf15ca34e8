import type { SqlUsersInput } from '@grantry/users/options'
import { foreignHashes } from '../users/hash-vectors.ts'

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
