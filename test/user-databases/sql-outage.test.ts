/**
 * Attack: while the database of the users is down or slow, a sign-in with the right password is refused as a wrong one, so
 * that users are locked out or type their other passwords; or the errors reveal the password of the database.
 */

import { renameSync } from 'node:fs'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { password } from '../users/hash-vectors.ts'
import { openSqlite, usersFactory } from './databases.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

const signIn = (f: Fixture, typed = password) =>
  f.post('token', { grant_type: 'password', username: 'alice', password: typed, scope: 'api1 openid email' }, web)

/** Expects 503 from every endpoint that needs the users. */
async function expectUnavailable(f: Fixture, token: string): Promise<void> {
  f.events.length = 0
  for (const typed of [password, 'wrong']) {
    const { status, headers, body } = await signIn(f, typed)
    expect({ status, error: body.error }).toEqual({ status: 503, error: 'temporarily_unavailable' })
    expect(headers.get('retry-after')).toBe('1')
  }
  expect((await f.get('userinfo', {}, { authorization: `Bearer ${token}` })).status).toBe(503)
  expect((await f.post('introspection', { token }, api1)).status).toBe(503)
  expect(f.events.filter(({ type }) => type === 'user_authentication_failed')).toEqual([])
  expect(f.events).toContainEqual(
    expect.objectContaining({ type: 'unhandled_failure', reason: 'users_unavailable', cause: expect.anything() }),
  )
  const text = JSON.stringify(f.events)
  for (const secret of ['the-password', 'pässword', 'wrong']) expect(text).not.toContain(secret)
}

describeWithPostgresql('while PostgreSQL', () => {
  const start = postgresqlServers()
  const create = usersFactory()
  let server: Awaited<ReturnType<typeof start>>
  let f: Fixture
  /** With the same storage, and a time limit that passes. */
  let hasty: Fixture
  let token = ''

  beforeAll(async () => {
    server = await start()
    for (const statement of accountsScript(true)) await server.query(statement)
    const storage = memoryDriver()
    f = await fixture({ users: create({ url: server.url, ...mapping }), storage })
    hasty = await fixture({ users: create({ url: server.url, ...mapping, operationTimeout: 1 }), storage })
    token = (await signIn(f)).body.access_token
  })

  test('does not respond, requests get 503, and afterwards users sign in', async () => {
    server.pause()
    await expectUnavailable(hasty, token)
    server.resume()
    await expect.poll(async () => (await signIn(hasty)).status).toBe(200)
  })

  test('is gone, requests get 503, and after its restart users sign in', async () => {
    await server.kill()
    await expectUnavailable(f, token)
    await server.restart()
    await expect.poll(async () => (await signIn(f)).status).toBe(200)
  })

  test('holds a lock, a sign-in gets 503 after its time limit', async () => {
    const holder = new pg.Client({ connectionString: server.url })
    await holder.connect()
    try {
      await holder.query('BEGIN')
      await holder.query(`LOCK TABLE ${quotedTable}`)
      expect((await signIn(hasty)).status).toBe(503)
    } finally {
      await holder.end()
    }
    await expect.poll(async () => (await signIn(f)).status).toBe(200)
  })

  test.each([
    ['refuses the password', (url: string) => url.replace('the-password', 'an-0ther-password')],
    ['has no such database', (url: string) => url.replace(/postgres$/u, 'nothing')],
  ])('%s, the start fails with an error that contains no password', async (_name, change) => {
    const users = create({ url: change(server.url), ...mapping })
    const failure: Error = await users.open().then(
      () => new Error('it started'),
      (error) => error,
    )
    expect(failure.message).toMatch(/^users: PostgreSQL at 127\.0\.0\.1:\d+, database "\w+" (?:refuses|has no such)/u)
    expect(`${failure.stack}`).not.toMatch(/the-password|0ther/u)
  })

  test('lets this user read only, the start without rehash succeeds, and with it fails', async () => {
    await server.query("CREATE ROLE reader LOGIN PASSWORD 'r'")
    await server.query(`GRANT SELECT ON ${quotedTable} TO reader`)
    const url = server.urlOf('postgres', 'reader', 'r')
    await create({ url, ...mapping }).open()
    await expect(create({ url, ...mapping, rehash: true }).open()).rejects.toThrow(/^users\.rehash: this user may not/u)
    await server.query(`REVOKE ALL ON ${quotedTable} FROM reader`)
    await expect(create({ url, ...mapping }).open()).rejects.toThrow(/too few rights/u)
  })
})

describe('while the file of SQLite is away', () => {
  const create = usersFactory()
  test('requests get 503, and afterwards users sign in', async () => {
    const database = openSqlite()
    for (const statement of accountsScript(false)) await database.run(statement)
    const { file = '' } = database.where
    const f = await fixture({ users: create({ file, ...mapping }) })
    const token = (await signIn(f)).body.access_token
    renameSync(file, `${file}.old`)
    await expectUnavailable(f, token)
    renameSync(`${file}.old`, file)
    expect((await signIn(f)).status).toBe(200)
  })

  test('the start fails, and creates no file', async () => {
    await expect(create({ file: '/nowhere/app.db', ...mapping }).open()).rejects.toThrow(
      'users.file: /nowhere/app.db does not exist; set the path of a SQLite file',
    )
  })
})
