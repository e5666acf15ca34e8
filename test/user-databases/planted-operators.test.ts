/**
 * Attack: another role of the database of the host may create objects in the schema `public`. It plants an operator `=` for
 * `varchar`, which PostgreSQL prefers to its own for columns of this type. The function of the operator runs with the rights
 * of the account that reads the users: it copies their hashes to a table of the attacker (CVE-2018-1058).
 */
import { sqlUsers } from '@grantry/users/sql'
import { afterEach, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { foreignHashes, password } from '../users/hash-vectors.ts'

const hash = foreignHashes['bcrypt $2b$']

const table = [
  'CREATE DOMAIN login AS varchar(100)',
  'CREATE TABLE accounts (id varchar(36) PRIMARY KEY, name login NOT NULL UNIQUE, hash varchar(255))',
  'CREATE UNIQUE INDEX ON accounts (lower(name))',
  `INSERT INTO accounts VALUES ('a-1', 'alice', '${hash}')`,
  "CREATE ROLE mallory; CREATE ROLE reader LOGIN PASSWORD 'r'",
  'GRANT SELECT, UPDATE ON accounts TO reader; GRANT CREATE ON SCHEMA public TO mallory',
]

/** What mallory does. */
const planted = `SET ROLE mallory;
  CREATE TABLE public.loot (hash text);
  GRANT INSERT ON public.loot TO public;
  CREATE FUNCTION public.copied(one varchar, other varchar) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO public.loot SELECT hash FROM public.accounts; RETURN one::text = other::text; END $$;
  CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.copied);
  RESET ROLE`

describeWithPostgresql('an operator of another role', () => {
  const start = postgresqlServers()
  const opened: ReturnType<typeof sqlUsers>[] = []
  afterEach(() => Promise.all(opened.splice(0).map((users) => users.close())))

  async function setUp(caseSensitive: boolean) {
    const { url, query } = await start()
    for (const statement of table) await query(statement)
    const address = Object.assign(new URL(url), { username: 'reader', password: 'r' })
    const columns = { sub: 'id', username: 'name', password: 'hash' }
    const input = { url: address.href, table: 'accounts', caseSensitive, rehash: true, operationTimeout: 60, columns }
    const openUsers = () => {
      const users = sqlUsers(input)
      opened.push(users)
      return users
    }
    const stolen = async () => Number((await query('SELECT count(*) FROM public.loot'))[0]?.count)
    return { openUsers, query, stolen }
  }

  test.each([true, false])('is not used by a running server, nor by a new one; caseSensitive: %s', async (isExact) => {
    const { openUsers, query, stolen } = await setUp(isExact)
    const running = openUsers()
    await running.open()
    await query(planted)
    await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
    for (const users of [running, openUsers()]) {
      // A connection that the server has ended is noticed by the first request.
      await Promise.resolve(users.isActive?.('a-1')).catch(() => {})
      expect(await users.authenticate?.({ username: 'alice', password })).toEqual({ sub: 'a-1' })
      expect([await users.isActive?.('a-1'), await users.isActive?.('unknown')]).toEqual([true, false])
    }
    expect(await stolen()).toBe(0)
  })

  test.each([
    ['uuid', '0190a8f0-0000-7000-8000-000000000001'],
    ['integer', '7'],
    ['bigint', '7'],
    ['text', 'a-1'],
    ['char(3)', 'a-1'],
  ])('leaves the index of a column of the type %s in use', async (type, id) => {
    const { openUsers, query } = await setUp(true)
    await query(
      `DELETE FROM accounts; ALTER TABLE accounts DROP COLUMN id; ALTER TABLE accounts ADD id ${type} PRIMARY KEY`,
    )
    await query(`INSERT INTO accounts (id, name, hash) VALUES ('${id}', 'alice', '${hash}')`)
    const users = openUsers()
    await users.open()
    expect(await users.authenticate?.({ username: 'alice', password })).toEqual({ sub: id })
    expect(await users.isActive?.(id)).toBe(true)
  })

  test('is not confused with the operator of an extension', async () => {
    const { openUsers, query } = await setUp(true)
    await query('CREATE EXTENSION citext; ALTER TABLE accounts ALTER name TYPE citext')
    const users = openUsers()
    await users.open()
    expect(await users.authenticate?.({ username: 'ALICE', password })).toEqual({ sub: 'a-1' })
  })
})
