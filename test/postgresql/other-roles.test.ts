// Other roles of a database may create functions, operators and tables in a schema of the search path, such as `public`.
import { postgresqlMigration } from '@grantry/storage-drivers/postgresql'
import { beforeAll, expect, test } from 'vitest'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const spent = { create: [{ key: 'spent', value: '{}', ttl: 60 }], put: [], remove: [] }

/** Functions and operators that fit better than those of PostgreSQL if the types differ, or are `anyarray`. */
const traps = [
  'FUNCTION public.cardinality(bytea[]) RETURNS int',
  'FUNCTION public.unnest(bytea[]) RETURNS SETOF bytea',
  'FUNCTION public.hashtextextended(text, int) RETURNS bigint',
  'FUNCTION public.times(numeric, int) RETURNS numeric',
  'FUNCTION public.above(real, int) RETURNS boolean',
  'FUNCTION public.same(oid, regclass) RETURNS boolean',
].map((head) => `CREATE ${head} LANGUAGE plpgsql AS $$ BEGIN RAISE 'the trap of mallory'; END $$`)
const operators = [
  'CREATE OPERATOR public.* (FUNCTION = public.times, LEFTARG = numeric, RIGHTARG = int)',
  'CREATE OPERATOR public.> (FUNCTION = public.above, LEFTARG = real, RIGHTARG = int)',
  'CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = oid, RIGHTARG = regclass)',
]

describeWithPostgresql('other roles of the database', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  let server: PostgresqlServer
  beforeAll(async () => {
    server = await start()
    await server.query("CREATE ROLE mallory LOGIN PASSWORD 'p'")
    await server.query("CREATE ROLE grantry_user LOGIN PASSWORD 'p'")
  })

  /** Creates a database in which all may create objects in `public`, and performs statements as mallory. */
  async function attacked(database: string, statements: readonly string[]): Promise<string> {
    await server.query(`CREATE DATABASE ${database}`)
    await server.query('GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC', undefined, database)
    for (const statement of statements)
      await server.query(`SET ROLE mallory; ${statement}; RESET ROLE`, undefined, database)
    return server.urlOf(database, 'grantry_user', 'p')
  }

  test('run none of their functions and operators in a statement of the driver', async () => {
    await attacked('trapped', [...traps, ...operators])
    await server.query(postgresqlMigration({ schema: 'identity' }), undefined, 'trapped')
    const driver = driverOf({ url: server.urlOf('trapped'), schema: 'identity' })
    expect(await driver.commit(spent)).toBe(true)
    expect(await driver.commit(spent)).toEqual(['spent'])
    expect(await driver.incrementItem('counter', { ttl: 60 })).toBe(1)
    expect(await driver.countItems()).toBe(2)
    for await (const items of driver.listItems()) expect(items).toHaveLength(2)
    expect((await driver.serverState()).time).toBeGreaterThan(0)
  })

  test('cannot replace a function: each one is named with its schema', () => {
    const texts = Object.values(statementsOf({ schema: 'public', prefix: 'x' })).map(({ text }) => text)
    // The name of a function is in lower case and has no space behind it. EXTRACT is a part of the grammar.
    const unqualified = /(?<![.\w])(?!extract\b)[a-z_]+\(/gu
    for (const text of texts) expect(text.match(unqualified)).toBeNull()
  })

  test('cannot put an operator before those of PostgreSQL with a search path of the database', async () => {
    const url = await attacked('reversed', [])
    await server.query('ALTER DATABASE reversed SET search_path = public, pg_catalog')
    await expect(driverOf({ url }).open()).rejects.toThrow('searches other schemas before pg_catalog')
  })

  test('cannot own the table', async () => {
    const table = `CREATE TABLE public.grantry_items (key bytea PRIMARY KEY, value text NOT NULL, ends timestamptz NOT NULL);
      INSERT INTO public.grantry_items VALUES ('', '1', 'infinity'); GRANT ALL ON public.grantry_items TO PUBLIC`
    const url = await attacked('planted', [table])
    await expect(driverOf({ url }).open()).rejects.toThrow(
      'has a table "public"."grantry_items" of the user mallory, who owns neither its schema nor the database',
    )
  })

  test('do not run a trigger of a planted table in the migration', async () => {
    await attacked('triggered', [
      `CREATE TABLE public.grantry_items (key bytea PRIMARY KEY, value text NOT NULL, ends timestamptz NOT NULL);
      CREATE FUNCTION public.trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the trap of mallory'; END $$;
      CREATE TRIGGER trap BEFORE INSERT ON public.grantry_items FOR EACH ROW EXECUTE FUNCTION public.trap()`,
    ])
    await server.query(postgresqlMigration(), undefined, 'triggered')
  })
})

test('statements of two tables have different names, which drivers behind a PgBouncer share', () => {
  const namesOf = (prefix: string) => Object.values(statementsOf({ schema: 'public', prefix })).map(({ name }) => name)
  const names = [...namesOf('alpha'), ...namesOf('beta')]
  expect(new Set(names).size).toBe(names.length)
  expect(Math.max(...names.map((name) => name.length))).toBeLessThan(64)
})
