import type { UserService } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { api1, fixture, web } from '../support/fixture.ts'

const alice = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }

describe('the password grant', () => {
  test.each([
    ['no user name', { username: '' }, 'username', 'parameter_missing'],
    ['no password', { password: '' }, 'password', 'parameter_missing'],
    ['a blank user name', { username: ' ' }, 'username', 'parameter_malformed'],
    ['a blank password', { password: '\t \n' }, 'password', 'parameter_malformed'],
    ['a user name of 257 characters', { username: 'x'.repeat(257) }, 'username', 'parameter_malformed'],
    ['a password of 1025 characters', { password: 'x'.repeat(1025) }, 'password', 'parameter_malformed'],
    ['acr_values of 301 characters', { acr_values: 'x'.repeat(301) }, 'acr_values', 'parameter_malformed'],
  ])('3.16 %s is an invalid request', async (_, wrong, name, reason) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { ...alice, ...wrong }, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining(name) })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason })
  })

  test('3.16 accepts a user name and a password of exactly the maximum length', async () => {
    const f = await fixture()
    const longest = { username: 'x'.repeat(256), password: 'y'.repeat(1024), acr_values: 'z'.repeat(300) }
    const { body } = await f.post('token', { ...alice, ...longest }, web)
    expect(body.error).toBe('invalid_grant')
  })

  test('3.16 preserves spaces in a password, but not around a user name', async () => {
    const seen: string[] = []
    const users: UserService = {
      authenticate({ username, password }) {
        seen.push(username, password)
        return { sub: '1' }
      },
    }
    const f = await fixture({ users })
    await f.post('token', { ...alice, username: ' alice ', password: ' pässwörd + % ' }, web)
    expect(seen).toEqual(['alice', ' pässwörd + % '])
  })

  test('3.20 amr is pwd', async () => {
    const f = await fixture()
    const { status, body } = await f.post('token', alice, web)
    expect(status).toBe(200)
    const introspected = await f.post('introspection', { token: body.access_token }, api1)
    expect(introspected.body).toMatchObject({ sub: '1', amr: ['pwd'], idp: 'local', auth_time: f.clock.now() })
  })

  test('3.20 the user service may report how and where it authenticated', async () => {
    const subject = { sub: '7', amr: ['pwd', 'otp'], idp: 'ldap', authTime: 1_700_000_000, acr: 'gold' }
    const f = await fixture({ users: { authenticate: () => subject } })
    const { body } = await f.post('token', alice, web)
    const introspected = await f.post('introspection', { token: body.access_token }, api1)
    expect(introspected.body).toMatchObject({
      sub: '7',
      amr: ['pwd', 'otp'],
      idp: 'ldap',
      auth_time: 1_700_000_000,
      acr: 'gold',
    })
  })

  test('3.21 returns a refresh token with offline_access, and only then', async () => {
    const f = await fixture()
    const without = await f.post('token', { ...alice, scope: 'openid api1' }, web)
    expect(without.body).not.toHaveProperty('refresh_token')
    const { body } = await f.post('token', { ...alice, scope: 'api1 offline_access' }, web)
    expect(body.scope).toBe('api1 offline_access')
    const refreshed = await f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)
    expect(refreshed.status).toBe(200)
  })

  test('3.22 returns no identity token, with or without openid', async () => {
    const f = await fixture()
    const { status, body } = await f.post('token', { ...alice, scope: 'openid profile api1' }, web)
    expect(status).toBe(200)
    expect(body).not.toHaveProperty('id_token')
  })

  test('a failing user service is a server_error, and its message is not shown', async () => {
    const users: UserService = {
      authenticate: () => Promise.reject(new Error('ldap://10.0.0.7 bind failed for alice-password')),
    }
    const f = await fixture({ users })
    const { status, body } = await f.post('token', alice, web)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
  })

  test.each([
    ['no sub', { amr: ['pwd'] }],
    ['an empty sub', { sub: '' }],
    ['a sub of 256 characters', { sub: 'x'.repeat(256) }],
    ['true', true],
  ])('a user service that returns %s yields no token', async (_, response) => {
    const f = await fixture({ users: { authenticate: () => response as never } })
    const { status, body } = await f.post('token', alice, web)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
  })
})
