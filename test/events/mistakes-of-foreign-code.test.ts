// Foreign code passes values that it must not: a token, a password, an error that cannot be serialized. None of it may
// reach a log or leave a request without a response.
import { inspect } from 'node:util'
import { OAuthError, type UserService } from '@grantry/core'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, fixture, testUsers, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const login = { grant_type: 'password', username: 'alice', password: 'alice-password' }
const secretWord = 'eyJhunter2'

describe('a malformed grant result', () => {
  test.each<[string, object]>([
    ['a token as its format', { issue: { accessToken: secretWord } }],
    ['a password as its subject', { subject: secretWord }],
    ['a password as sub', { subject: { sub: secretWord.repeat(60), amr: ['x'] } }],
    ['a password among the methods', { subject: { sub: '1', amr: secretWord } }],
    ['a token as a scope list', { scopes: secretWord }],
    ['a token as a lifetime', { issue: { lifetime: secretWord } }],
    ['a token as a redemption', { redeems: [secretWord] }],
    ['a token as claims', { claims: secretWord }],
  ])('is not quoted in any event: %s', async (_, more) => {
    const grantType = 'urn:example:malformed'
    const grant = testGrant({
      grantType,
      handle: ({ scopes }) => ({ scopes, ...more }) as never,
    })
    const { post, events } = await createTestProvider({ plugins: grant })
    const { status, body, failure } = await post('token', { grant_type: grantType, scope: 'api1' }, testClient)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(failure).toBeInstanceOf(TypeError)
    expect(String(failure)).toContain(grantType)
    expect(inspect(events, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(secretWord)
  })
})

describe('a user service that throws an error that cannot be serialized', () => {
  test.each<[string, object]>([
    ['a scope that is a number', { scope: 5 }],
    ['a scope that is an object', { scope: {} }],
    ['a scope that is null', { scope: null }],
    ['no reason', { reason: undefined }],
    ['an unknown status', { status: 999 }],
  ])('%s: 500, not a rejection', async (_, more) => {
    const { service } = testUsers()
    const claims = (): never => {
      throw new OAuthError('insufficient_scope', 'x', { reason: 'plugin:x:y', ...more } as never)
    }
    const f = await fixture({ users: { ...service, claims } })
    const token = (await f.post('token', { ...login, scope: 'openid profile' }, web)).body.access_token
    const { status, body } = await f.get('userinfo', {}, { authorization: `Bearer ${token}` })
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 500, reason: 'unhandled_failure' })
  })
})

test.each<[string, () => unknown]>([
  ['undefined', () => undefined],
  ['null', () => null],
  ['a promise of undefined', async () => undefined],
])('claims() that returns %s is a user without claims', async (_, claims) => {
  const { service } = testUsers()
  const f = await fixture({
    users: { ...service, claims: claims as NonNullable<UserService['claims']> },
    scopes: [{ name: 'api1', claims: ['role'], secrets: [{ sha256: sha256Of(api1[1]) }] }, { name: 'api2' }],
  })
  const response = await f.post('token', { ...login, scope: 'openid profile api1' }, web)
  expect(response.status).toBe(200)
  const userinfo = await f.get('userinfo', {}, { authorization: `Bearer ${response.body.access_token}` })
  expect(userinfo.status).toBe(200)
  expect(userinfo.body).toEqual({ sub: '1' })
})

test('a preflight records an event', async () => {
  const f = await fixture()
  f.events.length = 0
  const headers = { origin: 'https://web.example.com', 'access-control-request-method': 'POST' }
  await f.provider.handlers.token(new Request('https://id.example.com/connect/token', { method: 'OPTIONS', headers }))
  expect(f.events).toMatchObject([{ type: 'endpoint_succeeded', endpoint: 'token', status: 204 }])
})
