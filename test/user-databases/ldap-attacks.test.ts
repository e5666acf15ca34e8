/**
 * Attacks on a sign-in with LDAP: a name with characters of filters matches other users; an empty password is an
 * unauthenticated bind, which succeeds (RFC 4513 section 5.1.2); a lost connection is continued without a bind, or in
 * plain text; a directory that is down refuses right passwords as wrong ones; the options leave passwords unencrypted.
 */

import { connect, createServer } from 'node:net'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { ldapUsers } from '@grantry/users/ldap'
import type { LdapUsersInput } from '@grantry/users/options'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'
import { describeWithLdap, type LdapServer, ldapServers } from '../support/ldap-server.ts'
import { directoryLdif, ldapFactory, mapping } from './directory.ts'

const signIn = (f: Fixture, username: string, password: string) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'api1 openid' }, web)

describeWithLdap('an attacker', () => {
  const start = ldapServers()
  const create = ldapFactory()
  let server: LdapServer
  let f: Fixture
  /** With the same storage, and a time limit that passes. */
  let hasty: Fixture

  beforeAll(async () => {
    server = await start(directoryLdif)
    const storage = memoryDriver()
    f = await fixture({ users: create({ url: server.url, ...mapping }), storage })
    hasty = await fixture({ users: create({ url: server.url, ...mapping, operationTimeout: 1 }), storage })
  })

  test.each([
    '*',
    'ali*',
    'a*e',
    'alice)(uid=*',
    '*)(uid=*))(|(uid=*',
    'alice)(!(uid=bob)',
    'alice\0',
    '\\61lice',
    '\\2a',
    'uid=alice',
    'cn=admin,dc=example,dc=com',
    'PLAIN',
    'EXTERNAL',
    '',
    'ou=elsewhere',
    '\uD800',
    'x'.repeat(255),
  ])('matches no user with the name %j', async (name) => {
    for (const password of ['alice-password', 'the-ldap-password']) {
      expect((await signIn(f, name, password)).body.error).toBe(name === '' ? 'invalid_request' : 'invalid_grant')
    }
  })

  test('finds a user whose name has characters of filters by exactly this name', async () => {
    expect((await signIn(f, 'odd*(name)\\', 'odd-password')).status).toBe(200)
    expect((await signIn(f, 'odd*', 'odd-password')).body.error).toBe('invalid_grant')
  })

  test('signs in no user with an empty password, for which the directory accepts any DN', async () => {
    const users = create({ url: server.url, ...mapping })
    for (const username of ['alice', 'nopassword', 'unknown']) {
      expect(await users.authenticate?.({ username, password: '' })).toBeUndefined()
      expect(await users.authenticate?.({ username, password: '\0' })).toBeUndefined()
    }
    expect(() => create({ url: server.url, ...mapping, bindPassword: '' })).toThrow('users.bindPassword must be')
  })

  /** A proxy that counts connections and operations, and can cut all connections. */
  async function proxy() {
    const pairs = new Set<{ destroy(): void }>()
    const sent: string[] = []
    let connections = 0
    const port = Number(new URL(server.url).port)
    const listener = createServer((socket) => {
      connections += 1
      const target = connect(port, '127.0.0.1')
      pairs.add(socket).add(target)
      socket.on('data', (data) => sent.push(data.toString('latin1')))
      for (const each of [socket, target]) each.on('error', () => {})
      socket.pipe(target).pipe(socket)
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    afterAll(() => {
      for (const each of pairs) each.destroy()
      listener.close()
    })
    const address = listener.address()
    const open = typeof address === 'object' ? address?.port : undefined
    return {
      url: `ldap://127.0.0.1:${open}`,
      sent,
      count: () => connections,
      cut: () => [...pairs].forEach((each) => void each.destroy()),
    }
  }

  test('learns nothing from the work: every attempt is one search and one bind', async () => {
    const counted = await proxy()
    const users = create({ url: counted.url, ...mapping, active: 'nsAccountLock' })
    await users.authenticate?.({ username: 'alice', password: 'alice-password' })
    for (const username of ['alice', 'unknown', 'bob', 'nopassword', 'twin@example.com', '\0', '*']) {
      counted.sent.length = 0
      await Promise.resolve(users.authenticate?.({ username, password: 'a-guess' })).catch(() => {})
      // A name that no directory can have needs no search.
      const searches = counted.sent.filter((text) => text.includes('objectClass')).length
      expect([username, searches, counted.sent.filter((text) => text.includes('a-guess')).length]).toEqual([
        username,
        username === '\0' ? 0 : 1,
        1,
      ])
    }
  })

  test('who signs in often gets no more connections, and no more binds of the account that searches', async () => {
    const counted = await proxy()
    const users = create({ url: counted.url, ...mapping, maxConnections: 2 })
    for (let round = 0; round < 3; round += 1) {
      const attempts = Array.from({ length: 10 }, (_, index) =>
        users.authenticate?.({ username: index % 2 === 0 ? 'alice' : 'unknown', password: 'alice-password' }),
      )
      const signedIn = await Promise.all(attempts)
      expect(signedIn.filter((user) => user !== undefined)).toHaveLength(5)
    }
    expect(counted.count()).toBeLessThanOrEqual(4)
    expect(counted.sent.filter((text) => text.includes('the-reader-password')).length).toBeLessThanOrEqual(2)
  })

  test('who cuts connections gets no operation without a bind, and no password in plain text', async () => {
    const cut = await proxy()
    const users = create({ url: cut.url, ...mapping, startTls: true }, { ca: server.ca })
    for (let round = 0; round < 3; round += 1) {
      expect(await users.authenticate?.({ username: 'alice', password: 'alice-password' })).toEqual({
        sub: expect.any(String),
      })
      cut.cut()
    }
    await Promise.resolve(users.isActive?.('x')).catch(() => {})
    expect(cut.sent.length).toBeGreaterThan(0)
    for (const secret of ['alice-password', 'the-reader-password', 'objectClass'])
      expect(cut.sent.join('')).not.toContain(secret)
  })

  async function expectUnavailable(at: Fixture, token: string): Promise<void> {
    at.events.length = 0
    for (const password of ['alice-password', 'wrong-one']) {
      expect(await signIn(at, 'alice', password)).toMatchObject({
        status: 503,
        body: { error: 'temporarily_unavailable' },
      })
    }
    expect((await at.post('introspection', { token }, api1)).status).toBe(503)
    expect(at.events.filter(({ type }) => type === 'user_authentication_failed')).toEqual([])
    const text = JSON.stringify(at.events)
    expect(text).toContain('users_unavailable')
    for (const secret of ['alice-password', 'wrong-one', 'the-reader-password']) expect(text).not.toContain(secret)
  }

  test('a directory that hangs or is gone refuses no password: 503, until it is back', async () => {
    const { body } = await signIn(f, 'alice', 'alice-password')
    server.pause()
    await expectUnavailable(hasty, body.access_token)
    server.resume()
    await expect.poll(async () => (await signIn(hasty, 'alice', 'alice-password')).status).toBe(200)
    await server.kill()
    await expectUnavailable(f, body.access_token)
    await server.restart()
    await expect.poll(async () => (await signIn(f, 'alice', 'alice-password')).status).toBe(200)
  })
})

describe('an option', () => {
  const valid = { url: 'ldaps://ldap.example.com', ...mapping }
  test.each([
    [{ ...valid, url: 'ldap://ldap.example.com' }, 'users would send passwords over the network in plain text'],
    [{ ...valid, startTls: true }, 'users must not have startTls with ldaps://'],
    [{ ...valid, url: 'http://ldap.example.com' }, 'users.url must be a URL such as'],
    [{ ...valid, url: 'ldaps://u:s3cret-x@ldap.example.com' }, 'users.url must be a URL such as'],
    [{ ...valid, url: 'ldaps://ldap.example.com/dc=example' }, 'users.url must be a URL such as'],
    [{ ...valid, filter: 'objectClass=person' }, 'users.filter must be a filter in parentheses'],
    [{ ...valid, filter: '(objectClass=person' }, 'users.filter must be a filter in parentheses'],
    [{ ...valid, filter: '(&(a=b)' }, 'users.filter is not a valid filter'],
    [{ ...valid, active: 'enabled' }, 'users.active must be "userAccountControl"'],
    [{ ...valid, attributes: { username: 'uid)(a=*' } }, 'users.attributes.username must be the name of an attribute'],
    [{ ...valid, attributes: { username: [] } }, 'users.attributes.username must not be empty'],
    [
      { ...valid, attributes: { username: 'uid', sub: 'a b' } },
      'users.attributes.sub must be the name of an attribute',
    ],
    [
      { ...valid, attributes: { username: 'uid', claims: { sub: 'uid' } } },
      'users.attributes.claims must not contain sub',
    ],
    [{ ...valid, binDn: 'x' }, 'users.binDn is not a known option; did you mean bindDn?'],
    [{ ...valid, operationTimeout: 0 }, 'users.operationTimeout must be 0.05 to 60 seconds'],
  ])('that is mistyped is refused: %#', (options, message) => {
    expect(() => ldapUsers(options as LdapUsersInput)).toThrow(message)
    expect(() => ldapUsers(options as LdapUsersInput)).not.toThrow('s3cret')
  })
})
