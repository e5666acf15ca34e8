// Attack: a plugin, a user profile or a login page gives a token another user's name, or another client, scope or
// lifetime.
import { createTestProvider, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, redirectUri, web, webJwt } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const protocolClaims = [
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'client_id',
  'scope',
  'auth_time',
  'idp',
  'amr',
  'acr',
  'nonce',
  'at_hash',
  'azp',
  'active',
  'token_type',
  'cnf',
]

const grantType = 'urn:example:badge'
const badge = (claims: Record<string, string>, accessToken: 'jwt' | 'reference') =>
  testGrant({
    grantType,
    handle: ({ scopes }) => ({ subject: { sub: '1', amr: ['badge'] }, scopes, claims, issue: { accessToken } }),
  })

describe('a custom claim with the name of a protocol claim', () => {
  test.each(protocolClaims)('3.61 rejects %s of a grant when the token is issued, in both formats', async (name) => {
    for (const format of ['jwt', 'reference'] as const) {
      const f = await createTestProvider({ plugins: [badge({ fine: 'x', [name]: 'mine' }, format)] })
      const { status, body } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
      expect(status).toBe(500)
      expect(body).toEqual({ error: 'server_error' })
      expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
    }
  })

  test('3.61 rejects a claim named __proto__ too', async () => {
    const claims = JSON.parse('{"__proto__": {"sub": "2"}}')
    const f = await createTestProvider({ plugins: [badge(claims, 'reference')] })
    const { status, body } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
  })

  test.each(['Sub', 'subject', 'role', 'constructor'])('3.61 accepts %s, which collides with nothing', async (name) => {
    const f = await createTestProvider({ plugins: [badge({ [name]: 'x' }, 'reference')] })
    const { status } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
    expect(status).toBe(200)
  })

  test.each(['sub', 'client_id', 'scope'])(
    '3.61 issues no token for %s that the login page puts into a code',
    async (name) => {
      const f = await fixture()
      for (const as of [web, webJwt]) {
        const code = await f.code({ clientId: as[0], claims: { [name]: '2' } }).catch(() => 'refused')
        const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
        const { status, body } = await f.post('token', form, as)
        expect(status).not.toBe(200)
        expect(body).not.toHaveProperty('access_token')
      }
    },
  )

  test.each(['sub', 'exp', 'client_id'])(
    '3.61 rejects an API that requests %s from the user service at start',
    async (name) => {
      const scopes = [{ name: 'api1', claims: [name] }, { name: 'api2' }]
      await expect(fixture({ scopes })).rejects.toThrow(new RegExp(`api1 has the claim ${name}`, 'u'))
    },
  )

  test('3.61 drops claims that the user service adds without a request', async () => {
    const f = await fixture({
      scopes: [{ name: 'api1', claims: ['email'], secrets: [] }, { name: 'api2' }],
      users: {
        authenticate: () => ({ sub: '1' }),
        claims: () => ({ email: 'a@example.com', sub: '2', client_id: 'other', admin: true }),
      },
    })
    const alice = { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1' }
    const { body } = await f.post('token', alice, web)
    const { body: claims } = await f.get('accessTokenValidation', { token: body.access_token })
    expect(claims).toMatchObject({ sub: '1', client_id: 'web', email: 'a@example.com' })
    expect(claims).not.toHaveProperty('admin')
  })
})
