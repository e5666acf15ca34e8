import { environmentFile } from './environment-file.ts'
import { grantryFile } from './grantry-file.ts'
import { manifest, tsconfig, type VersionOf } from './manifest.ts'
import { newSecret } from './new-secret.ts'
import { packageProject } from './package-project.ts'
import type { Project } from './part.ts'
import { type Place, places } from './places.ts'
import { pluginsOf } from './plugins.ts'
import type { Answers } from './questions.ts'
import { siteFile } from './site-file.ts'
import { storages } from './storage.ts'
import { template } from './templates.ts'
import { users } from './users.ts'
import { isPostgresql, newTable, type UsersTable, usersSql } from './users-table.ts'

/** The programs of an MCP server: those of the example, with other neighbors. */
function mcpFiles(): Readonly<Record<string, string>> {
  const file = (name: string): string =>
    template(`mcp-server/${name}`)
      .replaceAll(/'\.\.?\/provider\.ts'/gu, "'./issuer.ts'")
      .replaceAll("'./sign-in.ts'", "'./mcp-sign-in.ts'")
  return {
    'issuer.ts': `\
/** The issuer, and the URL of the MCP server, which is all that a client needs. */
export const issuer = process.env.ISSUER ?? 'http://127.0.0.1:3000'
export const resource = \`\${issuer}/mcp\`
`,
    'mcp.ts': file('mcp.ts'),
    'mcp-client.ts': file('client.ts'),
    'client-memory.ts': file('client-memory.ts'),
    'mcp-sign-in.ts': file('sign-in.ts'),
  }
}

const mcpPackages = ['@grantry/resource-server', '@modelcontextprotocol/client', '@modelcontextprotocol/server', 'zod']

/** The test of a sign-in. It does not need the table of the users: it has a user of its own. */
const signInTest = ({ users: source }: Answers, { database }: UsersTable): string =>
  source === 'demo'
    ? template('app/sign-in.test.ts')
    : template('app/sign-in.test.ts')
        .replace('{ storage: memoryDriver() }', '{ storage: memoryDriver(), users }')
        .replace(
          '  ALICE_PASSWORD: password,\n}\n',
          `  USERS_DATABASE: '${isPostgresql(database) ? 'postgresql://reader@127.0.0.1/none' : './none.db'}',
}

// Instead of the table, which a test must not change.
const users: UserService = {
  authenticate: ({ username, password: typed }) => (username === 'alice' && typed === password ? { sub: '1' } : undefined),
  claims: () => ({ name: 'Alice Smith' }),
}
`,
        )
        .replace('import { memoryDriver }', "import type { UserService } from '@grantry/core'\nimport { memoryDriver }")

/** The files of the program, without those of its tools. */
function programFiles(answers: Answers, parts: Parameters<typeof grantryFile>[0], place: Place, table: UsersTable) {
  return {
    'grantry.ts': grantryFile(parts),
    'site.ts': siteFile(answers),
    'client.ts': template('app/client.ts'),
    ...(answers.pages === 'mine' && { 'login.ts': template('app/login.ts') }),
    ...(answers.what === 'mcp' && mcpFiles()),
    [place.server]: template(place.template),
    'browser.ts': template('app/browser.ts'),
    'sign-in.test.ts': answers.users === 'provider' ? template('app/provider.test.ts') : signInTest(answers, table),
    ...place.filesFor?.(answers),
  }
}

/** The users of PostgreSQL are in the database of the storage. */
const defaultTable = ({ storage }: Answers): UsersTable =>
  newTable((storage === 'postgresql' && storages.postgresql.settings?.DATABASE_URL) || './users.db')

/**
 * Returns the project that the answers describe. The answers must be possible together: see `refusalOf()`.
 *
 * @param table the table of the users, if they are in one that exists
 */
export function projectOf(
  answers: Answers,
  name: string,
  versionOf: VersionOf,
  table: UsersTable = defaultTable(answers),
): Project {
  if (answers.what !== 'app' && answers.what !== 'mcp') return packageProject(answers.what, name, versionOf)
  const place = places[answers.where]
  const [storage, ofUsers] = [storages[answers.storage], users[answers.users](table)]
  const parts = { storage, users: ofUsers, plugins: pluginsOf(answers, ofUsers.signInOptions ?? '') }
  const settings = {
    ISSUER: 'http://127.0.0.1:3000',
    PORT: '3000',
    GRANTRY_KEY_SECRET: newSecret(),
    CLIENT_SECRET: newSecret(),
    ...storage.settings,
    ...ofUsers.settings,
  }
  const packages = Object.values(parts).flatMap((part) => part.packages)
  const isMcp = answers.what === 'mcp'
  const isNew = answers.users === 'new'
  const runs = (program: string): string => (place.run ?? place.scripts.start).replace(place.server, program)
  const client = isMcp && { client: runs('mcp-client.ts') }
  const adding = isNew && { 'add-user': runs('add-user.ts') }
  const listed = {
    name,
    scripts: { ...place.scripts, ...client, ...adding },
    packages: [
      ...['@grantry/core', '@grantry/storage-drivers', 'openid-client', ...place.packages],
      ...packages.filter((each) => each !== 'libsql' || !place.hasSqlite),
      ...(isMcp ? mcpPackages : []),
    ],
    development: place.development,
  }
  return {
    files: {
      'package.json': manifest(listed, versionOf),
      'tsconfig.json': tsconfig(place.types),
      [place.secrets]: environmentFile(settings),
      ...programFiles(answers, parts, place, table),
      ...(isNew && { 'users.sql': usersSql(table), 'add-user.ts': template('app/add-user.ts') }),
    },
    ignored: ['node_modules/', place.secrets, 'data/', '*.db', ...(place.ignored ?? [])],
    note: ofUsers.note,
    hasTest: true,
    // A database and another provider are not there yet.
    start:
      ['demo', 'table'].includes(answers.users) && ['files', 'memory', 'sqlite'].includes(answers.storage)
        ? place.startOnce
        : undefined,
    next: place.next ?? 'npm start',
  }
}
