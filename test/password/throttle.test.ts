// Attack: guessing passwords at the token endpoint, for one user after the other, one by one or concurrently.
import type { UserService } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, otherClient, testUsers, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { pause, randomPause } from '../support/pause.ts'

const guess = (f: Fixture, username: string, password: string, as = web) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'api1' }, as)

describe('failed passwords', () => {
  test('3.23 at the limit of a user, even the right password is not tried', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 3 } } } })
    for (const wrong of ['a', 'b', 'c']) expect((await guess(f, 'alice', wrong)).body.error).toBe('invalid_grant')
    f.events.length = 0
    const { status, headers, body } = await guess(f, 'alice', 'alice-password')
    expect(status).toBe(429)
    expect(body).toEqual({ error: 'slow_down', error_description: expect.any(String) })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(600)
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'user_authentication_failed', reason: 'too_many_failures' }),
    )
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'too_many_failures' })
  })

  test('3.23 one failure below the limit, the right password is accepted', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 3 } } } })
    for (const wrong of ['a', 'b']) await guess(f, 'alice', wrong)
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(200)
  })

  test('3.23 throttles an unknown name like any other, so the throttle does not reveal which users exist', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 2 } } } })
    for (const wrong of ['a', 'b']) await guess(f, 'absent', wrong)
    expect((await guess(f, 'absent', 'c')).status).toBe(429)
  })

  test('3.23 does not affect other users', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 2 } } } })
    for (const wrong of ['a', 'b', 'c']) await guess(f, 'alice', wrong)
    expect((await guess(f, 'bob', 'bob-password')).status).toBe(200)
  })

  test('3.23 throttles a user across all clients', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 2 } } } })
    await guess(f, 'alice', 'a', web)
    await guess(f, 'alice', 'b', otherClient)
    expect((await guess(f, 'alice', 'alice-password', web)).status).toBe(429)
  })

  test('3.23 accepts the right password after the time of Retry-After', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 2, window: 30 } } } })
    f.clock.advance(123)
    for (const wrong of ['a', 'b']) await guess(f, 'alice', wrong)
    const { headers } = await guess(f, 'alice', 'alice-password')
    const wait = Number(headers.get('retry-after'))
    f.clock.advance(wait - 1)
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(429)
    f.clock.advance(1)
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(200)
  })

  test('3.23 throttles a client through which many names are tried, and only that one', async () => {
    const f = await fixture({ abuseControl: { passwords: { perClient: { failures: 4 } } } })
    for (const name of ['u1', 'u2', 'u3', 'u4']) await guess(f, name, 'password1')
    const { status, body } = await guess(f, 'alice', 'alice-password')
    expect(status).toBe(429)
    expect(body.error).toBe('slow_down')
    expect((await guess(f, 'alice', 'alice-password', otherClient)).status).toBe(200)
  })

  test('3.23 by default a user has five attempts from an address, twenty from addresses without a successful login, and a client a hundred failures', async () => {
    const f = await fixture()
    const from = (address: string | undefined, name: string, count: number) =>
      f.post(
        'token',
        { grant_type: 'password', username: name, password: `wrong ${count}`, scope: 'api1' },
        web,
        address,
      )
    for (let count = 0; count < 5; count += 1) expect((await from('192.0.2.1', 'alice', count)).status).toBe(400)
    expect((await from('192.0.2.1', 'alice', 5)).status).toBe(429)
    for (let count = 5; count < 20; count += 1)
      expect((await from(`192.0.2.${count}`, 'alice', count)).status).toBe(400)
    expect((await from('192.0.2.99', 'alice', 20)).status).toBe(429)
    for (let count = 20; count < 100; count += 1)
      expect((await from(undefined, `user${count}`, count)).status).toBe(400)
    expect((await guess(f, 'bob', 'bob-password')).status).toBe(429)
    expect((await guess(f, 'bob', 'bob-password', otherClient)).status).toBe(200)
  })

  test('3.23 counts names of users and clients separately: a user with the name of a client does not block it', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 2 }, perClient: { failures: 100 } } } })
    for (const wrong of ['a', 'b']) await guess(f, 'web', wrong)
    expect((await guess(f, 'web', 'x')).status).toBe(429)
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(200)
  })

  test('3.23 a login that hangs does not delay other logins through the same client', async () => {
    const { service } = testUsers()
    let release: () => void = () => {}
    const hanging = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined)
    })
    const users: UserService = {
      ...service,
      authenticate: (credentials, client) =>
        credentials.username === 'mallory' ? hanging : service.authenticate?.(credentials, client),
    }
    const f = await fixture({ users })
    const first = guess(f, 'mallory', 'x')
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(200)
    release()
    expect((await first).status).toBe(400)
  })

  test('3.23 the right guess in a burst, sent before any failure is counted, does not succeed', async () => {
    const { service } = testUsers()
    let asked = 0
    const users: UserService = {
      ...service,
      async authenticate(credentials, client) {
        asked += 1
        await pause(20)
        return service.authenticate?.(credentials, client)
      },
    }
    const storage = withLatency(memoryDriver())
    const f = await fixture({ users, storage, abuseControl: { passwords: { perUser: { failures: 3 } } } })
    const guesses = Array.from({ length: 30 }, (_, index) => (index === 29 ? 'alice-password' : `guess ${index}`))
    const statuses = await Promise.all(guesses.map(async (password) => (await guess(f, 'alice', password)).status))
    expect(asked).toBe(3)
    expect([...statuses].sort()).toEqual([...Array(3).fill(400), ...Array(27).fill(429)])
  })

  test('3.23 fifty concurrent correct logins of one user wait for each other and succeed', async () => {
    const { service } = testUsers()
    const users: UserService = {
      ...service,
      async authenticate(credentials, client) {
        await randomPause(20)
        return service.authenticate?.(credentials, client)
      },
    }
    const f = await fixture({ users, storage: withLatency(memoryDriver()) })
    const credentials = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => f.post('token', credentials, web, index % 2 ? '192.0.2.1' : undefined)),
    )
    expect(responses.filter(({ status }) => status !== 200)).toEqual([])
  })
})
