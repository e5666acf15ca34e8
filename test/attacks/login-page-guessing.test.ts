/**
 * Attack: an attacker guesses passwords at the host's login page instead of at the token endpoint, without any limit.
 *
 * `provider.authenticateUser` has the limits of the password grant: both count the same failures of a user, an address
 * and a client.
 */

import { isOAuthError, type LoginContext, passwords } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'

const clientAddress = '192.0.2.1'
const limits = { abuseControl: { passwords: { perUserAndAddress: { failures: 3 }, perUser: { failures: 50 } } } }

/** The subject's identifier, `wrong`, or the error code and the seconds to wait. */
async function logIn(f: Fixture, username: string, password: string, context: LoginContext = { clientAddress }) {
  try {
    return (await f.provider.authenticateUser({ username, password }, context))?.sub ?? 'wrong'
  } catch (error) {
    if (!isOAuthError(error)) throw error
    return [error.code, error.details.retryAfter]
  }
}

const guess = (f: Fixture, username: string, password: string) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'api1' }, web, clientAddress)

describe('a login page', () => {
  test('gets the subject for the right password, to create an authorization code', async () => {
    const f = await fixture()
    const subject = await f.provider.authenticateUser({ username: 'alice', password: 'alice-password' }, {})
    expect(subject).toEqual({ sub: '1', amr: ['pwd'] })
    if (subject === undefined) return
    expect(await f.code({ scopes: ['openid'], subject })).toEqual(expect.any(String))
  })

  test('after the limit, even the right password is not checked', async () => {
    const f = await fixture(limits)
    for (const wrong of ['a', 'b', 'c']) expect(await logIn(f, 'alice', wrong)).toBe('wrong')
    expect(await logIn(f, 'alice', 'alice-password')).toEqual(['slow_down', expect.any(Number)])
    f.clock.advance(900)
    expect(await logIn(f, 'alice', 'alice-password')).toBe('1')
  })

  test('shares its failures with the password grant, in both directions', async () => {
    const f = await fixture(limits)
    await logIn(f, 'alice', 'a')
    await guess(f, 'alice', 'b')
    await logIn(f, 'alice', 'c')
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(429)
    expect(await logIn(f, 'alice', 'alice-password')).toEqual(['slow_down', expect.any(Number)])
  })

  test('that names a client uses the allowance of that client', async () => {
    const f = await fixture({ abuseControl: { passwords: { perClient: { failures: 3 } } } })
    for (const name of ['u1', 'u2', 'u3']) await logIn(f, name, 'password1', { clientId: web[0] })
    expect(await logIn(f, 'bob', 'bob-password', { clientId: web[0] })).toEqual(['slow_down', expect.any(Number)])
    expect(await logIn(f, 'bob', 'bob-password', {})).toBe('2')
  })

  test('of 40 concurrent guesses under latency, checks exactly as many as the limit', async () => {
    const f = await fixture({ ...limits, storage: withLatency(memoryDriver()) })
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => logIn(f, 'alice', `guess ${index}`)))
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome !== 'wrong')).toEqual(Array(37).fill(['slow_down', expect.any(Number)]))
  })

  test('reports the same events as the password grant', async () => {
    const f = await fixture(limits)
    const context = { clientAddress, clientId: web[0] }
    for (const wrong of ['a', 'b', 'c', 'd']) await logIn(f, 'alice', wrong, context)
    await logIn(f, 'bob', 'bob-password', context)
    const environmentFacts = { endpoint: 'authenticateUser', clientId: web[0], clientAddress }
    const failed = { ...environmentFacts, type: 'user_authentication_failed' }
    expect(f.events).toContainEqual(expect.objectContaining({ ...failed, reason: 'wrong_credentials' }))
    expect(f.events).toContainEqual(expect.objectContaining({ ...failed, reason: 'too_many_failures' }))
    expect(f.events.filter(({ type }) => type === 'abuse_limited')).toHaveLength(1)
    expect(f.events.at(-1)).toMatchObject({ ...environmentFacts, type: 'user_authentication_succeeded', sub: '2' })
    expect(JSON.stringify(f.events)).not.toContain('bob-password')
  })
})

describe('the input of a login page', () => {
  test.each([
    ['no name', '', 'x'],
    ['a blank name', ' ', 'x'],
    ['no password', 'alice', ''],
    ['a name of 257 characters', 'x'.repeat(257), 'x'],
    ['a password of 1025 characters', 'alice', 'x'.repeat(1025)],
  ])('%s is wrong, and does not reach the user service', async (_, username, password) => {
    let lookups = 0
    const users = {
      authenticate() {
        lookups += 1
        return { sub: '1' }
      },
    }
    const f = await fixture({ users })
    expect(await logIn(f, username, password)).toBe('wrong')
    expect(lookups).toBe(0)
    expect(f.events).toMatchObject([{ type: 'user_authentication_failed', reason: 'credentials_impossible' }])
  })

  test.each(['absent', 'disabled'])('rejects an unusable client: %s', async (clientId) => {
    const f = await fixture({ clients: [{ clientId: 'disabled', enabled: false }] })
    const login = f.provider.authenticateUser({ username: 'alice', password: 'alice-password' }, { clientId })
    await expect(login).rejects.toMatchObject({ code: 'unauthorized_client', details: { reason: 'client_unknown' } })
  })

  test.each<[string, unknown, unknown]>([
    ['username', { password: 'x' }, {}],
    ['password', { username: 'x', password: 1 }, {}],
    ['usernme', { usernme: 'x', password: 'x' }, {}],
    ['context', { username: 'x', password: 'x' }, null],
    ['clientAddress', { username: 'x', password: 'x' }, { clientAddress: 1 }],
  ])('a mistake in %s is a TypeError that names it', async (name, credentials, context) => {
    const f = await fixture()
    const login = f.provider.authenticateUser(credentials as never, context as never)
    await expect(login).rejects.toThrow(name)
    await expect(login).rejects.toBeInstanceOf(TypeError)
  })

  test('without users.authenticate it is a TypeError with the reason', async () => {
    const f = await fixture({ users: {}, plugins: passwords, clients: [] })
    const login = f.provider.authenticateUser({ username: 'alice', password: 'x' }, {})
    await expect(login).rejects.toThrow('authenticateUser() requires authenticate()')
  })
})
