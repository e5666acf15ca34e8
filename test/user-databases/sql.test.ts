// Users in a table of the host, through the endpoints.

import { type Derive, parsePasswordHash } from '@grantry/users/password-hash'
import { sqlUsers } from '@grantry/users/sql'
import { beforeAll, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'
import { foreignHashes, password } from '../users/hash-vectors.ts'
import { describeDatabases, type HostDatabase, usersFactory } from './databases.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

describeDatabases('users in a table', (open, isPostgresql) => {
  const create = usersFactory()
  let database: HostDatabase
  let f: Fixture

  beforeAll(async () => {
    database = await open()
    for (const statement of accountsScript(isPostgresql)) await database.run(statement)
    const users = create({ ...database.where, ...mapping })
    await users.open()
    f = await fixture({ users })
  })

  const signIn = (username: string, typed = password, scope = 'api1 openid profile email') =>
    f.post('token', { grant_type: 'password', username, password: typed, scope }, web)

  test.each(['Alice', 'alice', 'ALICE', 'bob', ' alice', 'alice\u00a0', '\uff41lice', 'al\u200bice'])(
    '%j signs in with the right password only',
    async (name) => {
      expect((await signIn(name)).status).toBe(200)
      expect((await signIn(name, `${password} `)).body).toMatchObject({ error: 'invalid_grant' })
    },
  )

  test.each([
    'carol',
    'dave',
    'erin',
    'no user',
    '',
    "alice' OR '1'='1",
    'alice"; DROP TABLE users; --',
    '%',
    'al_ce',
    'alice\0',
    '\0',
    'alic\u0065\u0301',
    '\uD800',
    'x'.repeat(255),
  ])('%j is refused like every unknown user', async (name) => {
    const { status, body } = await signIn(name)
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: name === '' ? 'invalid_request' : 'invalid_grant',
    })
  })

  test('an empty password, and one with NUL, are refused', async () => {
    for (const typed of ['\0', `${password}\0`]) expect((await signIn('bob', typed)).body.error).toBe('invalid_grant')
    expect((await signIn('bob', '')).status).toBe(400)
  })

  test('userinfo has the claims of the mapping, in their types', async () => {
    const { body } = await signIn('alice')
    const info = await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
    expect(info.body).toEqual({
      sub: 'a-1',
      name: 'Alice Smith',
      email: 'alice@example.com',
      email_verified: true,
      updated_at: 1_700_000_000,
    })
    const { body: ofBob } = await signIn('bob')
    expect((await f.get('userinfo', {}, { authorization: `Bearer ${ofBob.access_token}` })).body).toEqual({
      sub: 'b-2',
    })
  })

  test('an inactive user is not authenticated for a page of the host, which asks for nothing more', async () => {
    const credentials = { username: 'carol', password }
    const users = create({ ...database.where, ...mapping })
    expect(await users.authenticate?.(credentials)).toBeUndefined()
    const { active: _, ...columns } = mapping.columns
    const all = create({ ...database.where, ...mapping, columns })
    expect(await all.authenticate?.(credentials)).toEqual({ sub: 'c-3' })
  })

  test('a token is inactive while its user is, and after the user is gone', async () => {
    const { body } = await signIn('bob', password, 'api1')
    const active = async () => (await f.post('introspection', { token: body.access_token }, api1)).body.active
    expect(await active()).toBe(true)
    await database.run(`UPDATE ${quotedTable} SET enabled = false WHERE id = 'b-2'`)
    expect(await active()).toBe(false)
    expect((await signIn('bob')).body.error).toBe('invalid_grant')
    await database.run(`UPDATE ${quotedTable} SET enabled = true WHERE id = 'b-2'`)
    expect(await active()).toBe(true)
    await database.run(`UPDATE ${quotedTable} SET id = 'b-3' WHERE id = 'b-2'`)
    expect(await active()).toBe(false)
    await database.run(`UPDATE ${quotedTable} SET id = 'b-2' WHERE id = 'b-3'`)
  })

  test('a hash of an enormous cost is not computed: refused, with an event that names the user and no hash', async () => {
    f.events.length = 0
    const [refused, unknown] = [await signIn('frank'), await signIn('no such user')]
    expect([refused.status, refused.body]).toEqual([unknown.status, unknown.body])
    const [failure] = f.events.filter(({ type }) => type === 'unhandled_failure')
    expect(failure).toMatchObject({
      reason: 'user_record_unusable',
      cause: { message: expect.stringContaining('"f-6"') },
    })
    expect(JSON.stringify(f.events)).not.toContain('zxlzcaBcql3BVNIWst')
  })

  test('an attempt takes the same work for each name, from the first one on', async () => {
    const work: string[] = []
    const derive: Derive = async (_password, _salt, length, cost) => {
      work.push(`${JSON.stringify(cost)} ${length}`)
      return new Uint8Array(64)
    }
    const users = sqlUsers({ ...database.where, ...mapping }, { derive })
    const attempts: string[][] = []
    for (const username of ['no user', 'alice', 'bob', 'carol', 'dave', 'erin', '\0', 'x'.repeat(2000)]) {
      work.length = 0
      await users.authenticate?.({ username, password: 'a guess' })
      attempts.push([...work].sort())
    }
    await users.close()
    expect(attempts[0]).toHaveLength(3)
    for (const attempt of attempts) expect(attempt).toEqual(attempts[0])
  })

  test('a name that two users have is refused, and the event says why', async () => {
    await database.run(`INSERT INTO ${quotedTable} (id, "user name", hash, enabled)
      SELECT 'a-9', 'ALICE', hash, enabled FROM ${quotedTable} WHERE id = 'b-2'`)
    f.events.length = 0
    expect((await signIn('alice')).body.error).toBe('invalid_grant')
    expect(JSON.stringify(f.events)).toContain('several users have this name')
    await database.run(`DELETE FROM ${quotedTable} WHERE id = 'a-9'`)
    expect((await signIn('alice')).status).toBe(200)
  })

  test('a sign-in replaces an old hash by a new one, and the next one keeps it', async () => {
    const users = create({ ...database.where, ...mapping, rehash: true })
    await users.open()
    const hash = async () => {
      const withHash = create({
        ...database.where,
        ...mapping,
        columns: { ...mapping.columns, claims: { name: 'hash' } },
      })
      return (await withHash.claims?.('b-2', ['name']))?.name
    }
    expect(await users.authenticate?.({ username: 'bob', password: 'wrong' })).toBeUndefined()
    expect(await hash()).toBe(foreignHashes.argon2id)
    expect(await users.authenticate?.({ username: 'bob', password })).toEqual({ sub: 'b-2' })
    const renewed = await hash()
    expect(parsePasswordHash(String(renewed))?.cost).toEqual({ algorithm: 'argon2id', m: 19_456, t: 2, p: 1 })
    expect(await users.authenticate?.({ username: 'bob', password })).toEqual({ sub: 'b-2' })
    expect(await hash()).toBe(renewed)
    await database.run(`UPDATE ${quotedTable} SET hash = '${foreignHashes.argon2id}' WHERE id = 'b-2'`)
  })

  test('names are compared exactly if the operator wants that', async () => {
    await database.run(`CREATE INDEX exact_names ON ${quotedTable} ("user name")`)
    const users = create({ ...database.where, ...mapping, caseSensitive: true })
    await users.open()
    expect(await users.authenticate?.({ username: 'Alice', password })).toEqual({ sub: 'a-1' })
    expect(await users.authenticate?.({ username: 'alice', password })).toBeUndefined()
  })
})
