// PostgreSQL becomes unusable while the ready server runs: requests get 503 with an event, nothing is half-written, and
// the same server works again afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { newDirectory, realServerProgram } from '../support/server-program.ts'
import { settingClients } from '../support/server-setting.ts'
import {
  expectOutage,
  expectService,
  logIn,
  operationTimeout,
  type RealServer,
  startRealServer,
  storageRequests,
  unavailable,
} from './real-server.ts'
import { storagePassword } from './refused-start.ts'

const directory = newDirectory()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const endSessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grantry'"
// As PostgreSQL fails: a test cannot mount a small disk everywhere.
const fillDisk = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'could not extend file "base/5/16389": No space left on device' USING ERRCODE = '53100';
END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON app.grantry_items FOR EACH ROW
  WHEN (length(NEW.value) > 150) EXECUTE FUNCTION full_disk()`

type Change = (postgresql: PostgresqlServer) => unknown

const perform =
  (...statements: readonly string[]): Change =>
  async (postgresql) => {
    for (const statement of statements) await postgresql.query(statement)
  }

/** What happens, how it ends, and what the log says meanwhile. */
const outages: readonly [what: string, takeAway: Change, giveBack: Change, logged: string][] = [
  ['hangs', (postgresql) => postgresql.pause(), (postgresql) => postgresql.resume(), 'is not available: '],
  [
    'is killed, and started again',
    (postgresql) => postgresql.kill(),
    (postgresql) => postgresql.restart(),
    'is not available: ',
  ],
  [
    'has another password for the user, and has ended the sessions',
    perform("ALTER ROLE app PASSWORD 'another'", endSessions),
    perform(`ALTER ROLE app PASSWORD '${storagePassword}'`),
    'refuses the password or the user: ',
  ],
  [
    'has taken all rights from the user',
    perform('REVOKE ALL ON app.grantry_items FROM app'),
    perform('GRANT ALL ON app.grantry_items TO app'),
    'gives this user too few rights: ',
  ],
  [
    'is read-only after the end of all sessions',
    perform('ALTER ROLE app SET default_transaction_read_only = on', endSessions),
    perform('ALTER ROLE app RESET default_transaction_read_only', endSessions),
    'is read-only: it is a replica, or default_transaction_read_only is on; use the primary',
  ],
]

/** Its start is not the subject: on a busy machine, an operation of it can take longer than the short time limit. */
async function startedAtLast(start: () => Promise<RealServer>): Promise<RealServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

describeWithPostgresql('PostgreSQL becomes unusable while the server runs', () => {
  const start = postgresqlServers()
  let postgresql: PostgresqlServer
  let server: RealServer
  beforeAll(async () => {
    const program = await realServerProgram()
    postgresql = await start()
    await postgresql.query(`CREATE ROLE app LOGIN PASSWORD '${storagePassword}'`)
    await postgresql.query('CREATE SCHEMA app AUTHORIZATION app')
    server = await startedAtLast(() =>
      startRealServer(program, mkdtempSync(join(directory, 'server-')), {
        driver: 'postgresql',
        url: postgresql.urlOf('postgres', 'app', storagePassword),
        schema: 'app',
        operationTimeout,
      }),
    )
  })
  afterAll(() => server?.stop())

  test.each(outages)(
    'it %s: requests get 503, and work again without a restart',
    async (_what, takeAway, giveBack, logged) => {
      // One gets reference tokens, the other JWTs.
      const tokens = await Promise.all(settingClients.map((client) => logIn(server, client)))
      const before = server.output().length
      await takeAway(postgresql)
      // All of these can find connections that have just ended; the next ones open new ones, which say why they are of no use.
      for (let round = 1; round <= 20 && (round === 1 || !server.output().slice(before).includes(logged)); round += 1) {
        await Promise.all(tokens.map((each) => expectOutage(server, each)))
      }
      await giveBack(postgresql)
      await server.ready()
      for (const each of tokens) await expectService(server, each)
      expect(server.output().slice(before)).toContain(logged)
      expect(server.output()).not.toContain(storagePassword)
    },
  )

  describe.each<[string, Change, Change, string]>([
    [
      'its disk is full',
      perform(fillDisk),
      perform('DROP FUNCTION full_disk CASCADE'),
      'has no space left on its disk: ',
    ],
    [
      'the right to write is gone',
      perform('REVOKE INSERT ON app.grantry_items FROM app'),
      perform('GRANT INSERT ON app.grantry_items TO app'),
      'gives this user too few rights: ',
    ],
  ])('%s', (_what, takeAway, giveBack, logged) => {
    test('reads continue, nothing is issued or spent, and the same refresh token works later', async () => {
      const tokens = await logIn(server)
      const rows = "SELECT key, value FROM app.grantry_items WHERE value !~ '^[0-9]+$' ORDER BY key"
      const before = server.output().length
      await takeAway(postgresql)
      const stored = await postgresql.query(rows)
      const requests = storageRequests(server, tokens)
      for (const send of [requests.refresh, requests['log-in']]) expect(await send()).toMatchObject(unavailable)
      expect(await postgresql.query(rows)).toEqual(stored)
      expect(await requests.introspection()).toMatchObject({ status: 200, body: { active: true } })
      expect(server.output().slice(before)).toContain(logged)
      await giveBack(postgresql)
      await server.ready()
      await expectService(server, tokens)
    })
  })
})
