/**
 * Attack: a client with few rights requests more: scopes not allowed to it, user scopes without a user, more at the
 * refresh than was granted, more at the code than the user consented to, or the same with unusual separators.
 *
 * RFC 6749 section 3.3 (a scope is a list of case-sensitive names, separated by single spaces), section 6 (a refresh
 * MUST NOT include any scope not originally granted). All or nothing, and a rejected refresh that does not spend the
 * token, is hardening.
 */

import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const narrow = ['narrow', 'narrow-secret'] as const
const narrowClient = {
  clientId: narrow[0],
  secrets: [{ sha256: sha256Of(narrow[1]) }],
  grantTypes: ['client_credentials', 'password', 'refresh_token'],
  scopes: ['api1', 'openid', 'offline_access'],
}
const withNarrow = () => fixture({ clients: [...clients, narrowClient] })
const refused = { status: 400, body: { error: 'invalid_scope', error_description: 'The scope is not valid' } }
const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }

describe('at a request', () => {
  test.each([
    ['api2', 'a scope of other clients'],
    ['api1 api2', 'an allowed scope and one of other clients'],
    ['admin', 'a scope that does not exist'],
    ['api1 admin', 'an allowed scope and one that does not exist'],
    ['openid', 'a user scope without a user'],
    ['api1 offline_access', 'a refresh token without a user'],
    ['API1', 'another case'],
    ['api1,api2', 'a comma'],
    ['api1\tapi2', 'a tab'],
    ['api1\napi2', 'a line break'],
    ['api1\u00a0api2', 'a no-break space'],
    ['api1\u0000', 'a trailing NUL'],
    [' api1  api2 ', 'an allowed scope and one of other clients among spaces'],
    ['api1 "api2"', 'quotes'],
    ['api1 \\', 'a backslash'],
    ['ap\u0456 1'.replace(' ', ''), 'a letter of another alphabet'],
    ['__proto__', 'a property name of the prototype'],
    ['*', 'a wildcard'],
    ['api1 '.repeat(201).trim(), 'more than a thousand characters'],
  ])('rejects %j: %s', async (scope) => {
    const f = await withNarrow()
    expect(await f.post('token', { grant_type: 'client_credentials', scope }, narrow)).toMatchObject(refused)
    expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
  })

  test('a missing scope is not every scope', async () => {
    const f = await withNarrow()
    const missing = { status: 400, body: { error: 'invalid_scope' }, failure: 'scope_missing' }
    expect(await f.post('token', { grant_type: 'client_credentials' }, narrow)).toMatchObject(missing)
    expect(await f.post('token', { ...alice, scope: '' }, narrow)).toMatchObject(missing)
  })

  test('the password of a user does not add scopes to the client', async () => {
    const f = await withNarrow()
    expect(await f.post('token', { ...alice, scope: 'openid profile' }, narrow)).toMatchObject(refused)
    expect((await f.post('token', { ...alice, scope: 'openid api1' }, narrow)).body.scope).toBe('openid api1')
  })
})

describe('at a refresh', () => {
  const start = async (f: Fixture, scope: string) => {
    const { body } = await f.post('token', { ...alice, scope }, web)
    return (token: string = body.refresh_token, more = {}) =>
      f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, web)
  }

  test.each([
    ['api2', 'another scope allowed to the client'],
    ['api1 api2', 'the granted one and another'],
    ['openid api1 offline_access', 'an identity scope'],
    ['admin', 'a scope that does not exist'],
    ['api1\t', 'a malformed list'],
    [' api1  api2 ', 'another scope among spaces'],
  ])('rejects %j: %s; the token is not spent', async (scope) => {
    const f = await fixture()
    const refresh = await start(f, 'api1 offline_access')
    expect(await refresh(undefined, { scope })).toMatchObject(refused)
    const legitimate = await refresh()
    expect(legitimate.status).toBe(200)
    expect(legitimate.body.scope).toBe('api1 offline_access')
  })

  test('a narrowed scope can be widened again up to the first grant, and no further', async () => {
    const f = await fixture()
    const refresh = await start(f, 'api1 offline_access')
    const narrowed = await refresh(undefined, { scope: 'api1' })
    expect(narrowed.body.scope).toBe('api1')
    expect(await refresh(narrowed.body.refresh_token, { scope: 'api1 api2' })).toMatchObject(refused)
    const complete = await refresh(narrowed.body.refresh_token)
    expect(complete.body.scope).toBe('api1 offline_access')
  })

  test('a retry of a spent token with other scopes is a replay: it gets no token and revokes the family', async () => {
    const f = await fixture()
    const refresh = await start(f, 'api1 api2 offline_access')
    const first = await refresh(undefined, { scope: 'api1' })
    expect(first.status).toBe(200)
    expect((await refresh(undefined, { scope: 'api1 api2' })).body.error).toBe('invalid_grant')
    expect((await refresh(first.body.refresh_token)).body.error).toBe('invalid_grant')
  })
})

describe('at a code', () => {
  test('the scope parameter does not add to what the user consented to', async () => {
    const f = await fixture()
    const code = await f.code({ scopes: ['openid'] })
    const { status, body } = await f.post(
      'token',
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri, scope: 'openid api1 offline_access' },
      web,
    )
    expect(status).toBe(200)
    expect(body.scope).toBe('openid')
    expect(body).not.toHaveProperty('refresh_token')
  })

  test('creates no code for scopes not allowed to the client', async () => {
    const f = await fixture({
      clients: [{ ...narrowClient, grantTypes: ['authorization_code'], redirectUris: [redirectUri] }],
    })
    for (const scopes of [['api2'], ['api1', 'api2'], ['openid', 'admin'], ['api1 api2'], ['__proto__']]) {
      await expect(f.code({ clientId: narrow[0], scopes })).rejects.toMatchObject({ code: 'invalid_scope' })
    }
  })
})
