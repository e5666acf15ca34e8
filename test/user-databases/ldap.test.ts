// Users in an LDAP directory, through the endpoints.

import { beforeAll, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'
import { describeWithLdap, type LdapServer, ldapServers } from '../support/ldap-server.ts'
import { directoryLdif, ldapFactory, mapping, reader } from './directory.ts'

const alice = '11111111-1111-4111-8111-111111111111'

describeWithLdap('users in a directory', () => {
  const start = ldapServers()
  const create = ldapFactory()
  let server: LdapServer
  let f: Fixture

  beforeAll(async () => {
    server = await start(directoryLdif)
    const users = create({ url: server.url, ...mapping })
    await users.open()
    f = await fixture({ users })
  })

  const signIn = (username: string, password: string, at = f) =>
    at.post('token', { grant_type: 'password', username, password, scope: 'api1 openid profile email roles' }, web)

  test.each([
    'alice',
    'ALICE',
    'alice@example.com',
    ' Alice@EXAMPLE.com ',
    '\uff41lice',
    'alice\uff20example\u3002com',
  ])('%j signs in with the right password only', async (name) => {
    expect((await signIn(name, 'alice-password')).status).toBe(200)
    for (const wrong of ['alice-passwor', 'Alice-password', 'bob-password', '\0']) {
      expect((await signIn(name, wrong)).body.error).toBe('invalid_grant')
    }
  })

  test('userinfo has the claims of the mapping, in their types', async () => {
    const { body } = await signIn('alice', 'alice-password')
    const { body: claims } = await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
    expect(claims).toMatchObject({ sub: alice, name: 'alice', email: 'alice@example.com', email_verified: true })
    const users = create({ url: server.url, ...mapping })
    expect(await users.claims?.(alice, ['role', 'employee', 'phone_number'])).toEqual({
      role: ['admin', 'editor'],
      employee: 42,
    })
    expect(await users.claims?.('22222222-2222-4222-8222-222222222222', ['name', 'email', 'role'])).toEqual({
      name: 'bob',
    })
  })

  test('a token is active while its user is in the directory', async () => {
    const { body } = await signIn('alice', 'alice-password')
    expect((await f.post('introspection', { token: body.access_token }, api1)).body.active).toBe(true)
    const users = create({ url: server.url, ...mapping })
    for (const sub of [alice.replace('1111', '1112'), alice.toUpperCase(), 'alice', '*', '', '\0', 'x'.repeat(2000)]) {
      expect(await users.isActive?.(sub)).toBe(sub === alice.toUpperCase() && sub === alice)
    }
    const withoutAlice = create({ url: server.url, ...mapping, filter: '(&(objectClass=person)(!(uid=alice)))' })
    expect(await withoutAlice.isActive?.(alice)).toBe(false)
    expect(await withoutAlice.authenticate?.({ username: 'alice', password: 'alice-password' })).toBeUndefined()
  })

  test('a request gets the claims from the search for the state, and another request searches again', async () => {
    const users = create({ url: server.url, ...mapping })
    const question = { begins: false, request: {} }
    expect(await users.isActive?.(alice, question)).toBe(true)
    await users.close()
    expect(await users.claims?.(alice, ['name'], question)).toEqual({ name: 'alice' })
    await expect(users.claims?.(alice, ['name'], { request: {} })).rejects.toThrow()
  })

  test('a sub in another spelling, which the directory takes for the same, is no user', async () => {
    const users = create({ url: server.url, ...mapping, attributes: { ...mapping.attributes, sub: 'uid' } })
    expect(await users.isActive?.('alice')).toBe(true)
    expect(await users.claims?.('alice', ['name'])).toEqual({ name: 'alice' })
    for (const sub of ['ALICE', 'Alice', ' alice', 'alice ', '\uff41lice']) {
      expect(await users.isActive?.(sub)).toBe(false)
      expect(await users.claims?.(sub, ['name'])).toEqual({})
    }
  })

  test.each(['userAccountControl', 'nsAccountLock', '(!(uid=bob))'])(
    'an account that %s disables cannot sign in',
    async (active) => {
      const users = create({ url: server.url, ...mapping, active })
      const bob = '22222222-2222-4222-8222-222222222222'
      expect(await create({ url: server.url, ...mapping }).isActive?.(bob)).toBe(true)
      expect(await users.isActive?.(bob)).toBe(false)
      expect(await users.authenticate?.({ username: 'bob', password: 'bob-password' })).toBeUndefined()
      expect(await users.authenticate?.({ username: 'alice', password: 'alice-password' })).toEqual({ sub: alice })
    },
  )

  test.each(['pwdAccountLockedTime', '(employeeStatus=active)', '(&(uid=*)(!(noSuchAttribute=1)))'])(
    'a directory that does not know %s is refused at the start: no user could sign in',
    async (active) => {
      await expect(create({ url: server.url, ...mapping, active }).open()).rejects.toThrow(
        /^users\.active: the LDAP server .+ does not know the attribute, or does not show it to bindDn, so no user would be active$/u,
      )
    },
  )

  test.each(['userAccountControl', 'nsAccountLock', '(!(uid=*))', '(title=manager)'])(
    'a directory that knows %s is accepted, also if no user has it or is active',
    async (active) => {
      await create({ url: server.url, ...mapping, active }).open()
      await create({ url: server.url, ...mapping, active, filter: '(uid=no-such-user)' }).open()
    },
  )

  test('the sub can be the objectGUID of Active Directory, as text', async () => {
    const attributes = { ...mapping.attributes, sub: 'objectGUID' }
    const users = create({ url: server.url, ...mapping, attributes })
    const sub = 'b4505933-89ae-4f72-b5ce-e627b86ec909'
    expect(await users.authenticate?.({ username: 'alice', password: 'alice-password' })).toEqual({ sub })
    expect(await users.isActive?.(sub)).toBe(true)
    expect(await users.claims?.(sub, ['email'])).toEqual({ email: 'alice@example.com' })
    expect(await users.isActive?.('b4505933-89ae-4f72-b5ce-e627b86ec908')).toBe(false)
    expect(await users.isActive?.('b4505933*')).toBe(false)
    // bob has none.
    await expect(users.authenticate?.({ username: 'bob', password: 'bob-password' })).rejects.toMatchObject({
      details: { reason: 'user_record_unusable' },
    })
  })

  test('an entry with two values of the attribute of sub is no user by either', async () => {
    const attributes = { ...mapping.attributes, sub: 'businessCategory' }
    const users = create({ url: server.url, ...mapping, attributes })
    await expect(users.authenticate?.({ username: 'alice', password: 'alice-password' })).rejects.toMatchObject({
      details: { reason: 'user_record_unusable' },
    })
    for (const sub of ['admin', 'editor']) {
      expect(await users.isActive?.(sub)).toBe(false)
      expect(await users.claims?.(sub, ['name'])).toEqual({})
    }
  })

  test('a name that two entries have is refused, and the event says why', async () => {
    f.events.length = 0
    expect((await signIn('twin@example.com', 'twin-password')).body.error).toBe('invalid_grant')
    expect(JSON.stringify(f.events)).toContain('several entries have this name')
    expect((await signIn('twin1', 'twin-password')).status).toBe(200)
  })

  test('more sign-ins than connections wait for each other', async () => {
    const users = create({ url: server.url, ...mapping, maxConnections: 2 })
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        users.authenticate?.({ username: 'alice', password: index % 2 === 0 ? 'alice-password' : 'wrong' }),
      ),
    )
    expect(results.filter((each) => each?.sub === alice)).toHaveLength(10)
  })

  test.each([
    ['ldaps', () => ({ url: server.secureUrl })],
    ['STARTTLS', () => ({ url: server.url, startTls: true })],
  ])('%s works with the authority of the server, and fails with another one', async (_name, where) => {
    const users = create({ ...where(), ...mapping }, { ca: server.ca })
    await users.open()
    expect(await users.authenticate?.({ username: 'alice', password: 'alice-password' })).toEqual({ sub: alice })
    await expect(create({ ...where(), ...mapping }, { ca: server.otherCa }).open()).rejects.toThrow(
      /^users: the LDAP server/u,
    )
    await expect(create({ ...where(), ...mapping }).open()).rejects.toThrow(/SELF_SIGNED|UNABLE_TO/u)
    const named = { ...where(), url: where().url.replace('127.0.0.1', 'localhost') }
    await expect(create({ ...named, ...mapping }, { ca: server.ca }).open()).rejects.toThrow(
      /ERR_TLS_CERT_ALTNAME_INVALID/u,
    )
  })

  test.each([
    [
      'bindDn',
      { bindPassword: 'wr0ng-secret' },
      /^users\.bindDn: the LDAP server .* refuses the DN or the password \(49\)$/u,
    ],
    ['baseDn', { baseDn: 'ou=nothing,dc=example,dc=com' }, /^users\.baseDn: the LDAP server .* has no such entry/u],
  ])('a wrong %s is an error at the start, without the password', async (_name, change, message) => {
    const failure = await create({ url: server.url, ...mapping, ...change })
      .open()
      .then(
        () => new Error('it started'),
        (error: Error) => error,
      )
    expect(failure.message).toMatch(message)
    expect(failure.stack).not.toMatch(/wr0ng|the-reader-password/u)
  })

  test('a password from a function is read for each connection, and its failure has no secret', async () => {
    let password = 'wr0ng-secret'
    const bindPassword = () => {
      if (password === '') throw new Error('wr0ng-secret')
      return password
    }
    const users = create({ url: server.url, ...mapping, bindPassword })
    await expect(users.open()).rejects.toThrow('refuses the DN or the password (49)')
    password = ''
    const failure = await users.open().catch((error: Error) => error.stack)
    expect(failure).toContain('has returned no password')
    expect(failure).not.toContain('wr0ng-secret')
    password = reader.bindPassword
    await users.open()
    expect(await users.authenticate?.({ username: 'alice', password: 'alice-password' })).toEqual({ sub: alice })
  })
})
