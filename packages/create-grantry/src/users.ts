import { newSecret } from './new-secret.ts'
import type { Part } from './part.ts'
import type { Answers } from './questions.ts'
import { isPostgresql, type UsersTable } from './users-table.ts'

/** The users, as `users` of `createProvider()`. */
export interface UsersPart extends Part {
  /** Further options of `signInPlugins()`, each after a comma. */
  readonly signInOptions?: string | undefined
  /** The storage with an end that ends the users, too. */
  readonly ends?: string | undefined
  /** Whether the user service needs the provider. */
  readonly needsProvider?: boolean | undefined
  /** How a user signs in. */
  readonly note: string
}

/** Users in a table. @param isNew whether the table is created by `users.sql` */
function inTable({ database, table, columns }: UsersTable, isNew: boolean): UsersPart {
  const place = isPostgresql(database) ? 'url' : 'file'
  return {
    imports: { '@grantry/users/sql': ['sqlUsers'] },
    declarations: `/** The table of the users, and what is in its columns. */
export const usersTable = (env: Environment) =>
  ({
    ${place}: required(env, 'USERS_DATABASE'),
    table: ${JSON.stringify(table)},
    columns: ${JSON.stringify(columns, undefined, 2).replaceAll('\n', '\n    ')},
  }) as const

`,
    preparation: `  const users = sqlUsers(usersTable(env))
  // Rejects if the table is unsuitable, with a sentence such as the statement that creates an index.
  if (more.users === undefined) await users.open()
`,
    code: 'users',
    ends: `{
      ...storage,
      async dispose() {
        await storage.dispose?.()
        await users.close()
      },
    }`,
    settings: { USERS_DATABASE: database },
    packages: ['@grantry/users', place === 'url' ? 'pg' : 'libsql'],
    note: isNew
      ? `Create the table: ${place === 'url' ? 'psql URL -f users.sql' : `sqlite3 ${database} < users.sql`}. Add a user: npm run add-user -- alice`
      : `Sign in as a user of the table ${table}.`,
  }
}

/** @param table the table of the users, if they are in one */
type UsersOf = (table: UsersTable) => UsersPart

export const users: Readonly<Record<Answers['users'], UsersOf>> = {
  new: (table) => inTable(table, true),
  table: (table) => inTable(table, false),
  demo: () => ({
    code: `{
      // One demo user. Replace it by your users and their hashed passwords.
      authenticate: ({ username, password }) =>
        username === 'alice' && password === required(env, 'ALICE_PASSWORD') ? { sub: '1' } : undefined,
      isActive: (sub) => sub === '1',
      claims: () => ({ name: 'Alice Smith', email: 'alice@example.com', email_verified: true }),
    }`,
    settings: { ALICE_PASSWORD: newSecret().slice(0, 20) },
    packages: [],
    note: 'Sign in as alice; her password is ALICE_PASSWORD in the file of the secrets.',
  }),
  provider: () => ({
    imports: { '@grantry/plugins/upstream': ['combinedUsers'] },
    // The users of the other provider are known after their first sign-in.
    code: 'combinedUsers([], provider)',
    needsProvider: true,
    signInOptions: `,
      passwords: false,
      providers: [
        {
          name: 'company',
          issuer: required(env, 'COMPANY_ISSUER'),
          clientId: required(env, 'COMPANY_CLIENT_ID'),
          clientSecret: required(env, 'COMPANY_CLIENT_SECRET'),
          // Another provider on this machine, during development.
          allowPrivateAddresses: required(env, 'COMPANY_ISSUER').startsWith('http:'),
        },
      ],
    `,
    settings: {
      COMPANY_ISSUER: 'https://login.example.com',
      COMPANY_CLIENT_ID: 'grantry',
      COMPANY_CLIENT_SECRET: 'the-secret-there',
    },
    packages: ['openid-client'],
    note: `Register http://127.0.0.1:3000/connect/upstream/company/callback at the other provider, and set its issuer, your
client id and the secret where the secrets are.`,
  }),
}
