import { scryptSync } from 'node:crypto'
import { user, userCount } from '../operations.ts'

/** The table with the users of the servers that read one. */
export const usersTable = 'bench_users'

const claimNames = Object.keys(user.claims) as readonly (keyof typeof user.claims)[]

/** The cheapest hash: it is checked only when tokens are issued before the load. */
function passwordHash(): string {
  const salt = Buffer.alloc(16, 7)
  const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/u, '')
  return `$scrypt$ln=10,r=1,p=1$${encode(salt)}$${encode(scryptSync(user.password, salt, 32, { N: 1024, r: 1, p: 1 }))}`
}

const text = (value: string): string => `'${value}'`

/** Creates the table with a user for each name. */
export const usersTableText = (): string => `CREATE TABLE ${usersTable} (
  sub text PRIMARY KEY,
  username text NOT NULL UNIQUE,
  password text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  ${claimNames.map((name) => `${name} text NOT NULL`).join(',\n  ')}
);
INSERT INTO ${usersTable} (sub, username, password, ${claimNames.join(', ')})
  VALUES (${[user.sub, user.username, passwordHash(), ...claimNames.map((name) => user.claims[name])].map(text).join(', ')});
INSERT INTO ${usersTable} (sub, username, password, ${claimNames.join(', ')})
  SELECT 'user' || n, 'user' || n, '!', ${claimNames.map((name) => `'${name} ' || n`).join(', ')}
  FROM generate_series(0, ${userCount - 1}) AS n;
ANALYZE ${usersTable};`

/** Returns the options with which Grantry reads the table. */
export const tableOptions = (url: string) => ({
  url,
  table: usersTable,
  caseSensitive: true,
  columns: {
    sub: 'sub',
    username: 'username',
    password: 'password',
    active: 'active',
    claims: Object.fromEntries(claimNames.map((name) => [name, name])),
  },
})
