// How many statements and trips a request costs with the storage and the users in PostgreSQL.

import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import type { SqlUsersInput } from '@grantry/users/options'
import { beforeAll, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, redirectUri } from '../support/fixture.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { password } from '../users/hash-vectors.ts'
import { usersFactory } from './databases.ts'
import { statementCounter } from './statement-counter.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

const profiled: readonly [string, string] = ['profiled', 'profiled-secret']

/** Its tokens have claims of the user. */
const profiledClient: ClientOptions = {
  clientId: profiled[0],
  secrets: [{ sha256: sha256Of(profiled[1]) }],
  grantTypes: ['authorization_code', 'refresh_token', 'password'],
  scopes: ['openid', 'profile', 'email', 'offline_access', 'api1'],
  redirectUris: [redirectUri],
  accessTokenFormat: 'reference',
  userClaimsInIdentityToken: true,
}

/** Enough for one statement and less than the limit of the statements that wait at the same time. */
const others = Array.from({ length: 20 }, (_, index) => `u-${index}`)

describeWithPostgresql('a request with its users in a table', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers({ concurrent: true })
  const create = usersFactory()
  const count = statementCounter()
  let f: Fixture
  let server: PostgresqlServer
  let tables = 0

  beforeAll(async () => {
    server = await start()
    const { url, query } = server
    for (const statement of accountsScript(true)) await query(statement)
    for (const id of others) {
      await query(`INSERT INTO ${quotedTable} (id, "user name", enabled, "select") VALUES ($1, $1, true, $2)`, [
        id,
        `Name of ${id}`,
      ])
    }
    const input: SqlUsersInput = { url, ...mapping }
    f = await fixture({ storage: driverOf({ url }), users: create(input), clients: [...clients, profiledClient] })
    // The first requests prepare the table, open connections and read the revision.
    for (const sub of ['a-1', 'a-1']) await tokensFor(sub)
    await Promise.all(others.map((sub) => tokensFor(sub)))
  })

  const grantOf = (sub: string) => ({
    clientId: profiled[0],
    scopes: ['openid', 'profile', 'offline_access', 'api1'],
    subject: { sub, amr: ['pwd'] },
  })
  const redeem = (code: string) =>
    f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, profiled)
  async function tokensFor(sub: string) {
    const { body } = await redeem(await f.code(grantOf(sub)))
    return body as { access_token: string; refresh_token: string; id_token: string }
  }
  const userinfo = (token: string) => f.get('userinfo', {}, { authorization: `Bearer ${token}` })

  test('introspection asks for the user in one statement', async () => {
    const { access_token: token } = await tokensFor('a-1')
    expect(await count(() => f.post('introspection', { token }, api1))).toEqual({ users: 1, storage: 1, trips: 2 })
  })

  test('userinfo gets the state and the claims in one statement', async () => {
    const { access_token: token } = await tokensFor('a-1')
    expect(await count(() => userinfo(token))).toEqual({ users: 1, storage: 1, trips: 2 })
    expect((await userinfo(token)).body).toMatchObject({ sub: 'a-1', name: 'Alice Smith' })
  })

  test('a code with claims in the identity token costs one statement of the users', async () => {
    const code = await f.code(grantOf('a-1'))
    expect(await count(() => redeem(code))).toEqual({ users: 1, storage: 2, trips: 3 })
  })

  test('so does a refresh', async () => {
    const { refresh_token } = await tokensFor('a-1')
    const refresh = () => f.post('token', { grant_type: 'refresh_token', refresh_token }, profiled)
    expect(await count(refresh)).toEqual({ users: 1, storage: 2, trips: 3 })
  })

  // The state is read again after the hash was computed, which takes long.
  test('a password costs one statement before its hash is checked, and one after', async () => {
    const form = { grant_type: 'password', username: 'alice', password, scope: 'openid profile api1' }
    expect((await f.post('token', form, profiled)).status).toBe(200)
    expect(await count(() => f.post('token', form, profiled))).toMatchObject({ users: 2 })
  })

  test('requests of one moment share their statements, and each gets its own user', async () => {
    const tokens = await Promise.all(others.map(async (sub) => (await tokensFor(sub)).access_token))
    const names: unknown[] = []
    const all = async () => {
      for (const { body } of await Promise.all(tokens.map(userinfo))) names.push(body.name)
    }
    expect(await count(all)).toEqual({ users: 1, storage: 1, trips: 2 })
    expect(names).toEqual(others.map((sub) => `Name of ${sub}`))
  })

  test('so do codes of one moment', async () => {
    const codes = await Promise.all(others.map((sub) => f.code(grantOf(sub))))
    // The signatures are ready in different turns, so the number of writes varies.
    expect(await count(() => Promise.all(codes.map(redeem)))).toMatchObject({ users: 1 })
  })

  test.each([
    ['uuid', '0190a8f0-0000-7000-8000-000000000001', '0190a8f0-0000-7000-8000-00000000000A'],
    ['integer', '7', '007'],
    ['text', 'a"\\,{}', 'b'],
    ['char(3)', 'a-1', 'a-1 '],
    ['varchar(9)', 'NULL', 'null'],
  ])('a shared statement finds the exact sub of a column of the type %s', async (type, known, otherSub) => {
    tables += 1
    const table = `accounts_${tables}`
    await server.query(`CREATE TABLE ${table} (id ${type} PRIMARY KEY, name text NOT NULL, hash text)`)
    await server.query(`CREATE UNIQUE INDEX ON ${table} (lower(name))`)
    await server.query(`INSERT INTO ${table} (id, name) VALUES ($1, 'alice')`, [known])
    const columns = { sub: 'id', username: 'name', password: 'hash', claims: { name: 'name' } }
    const users = create({ url: server.url, operationTimeout: 60, table, columns })
    await users.open()
    for (const subs of [
      [known, known],
      [known, otherSub],
      [otherSub, known, 'no value of many types', '9'.repeat(40)],
    ]) {
      expect(await Promise.all(subs.map((sub) => users.isActive?.(sub)))).toEqual(subs.map((sub) => sub === known))
    }
  })
})
