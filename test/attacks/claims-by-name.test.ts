/**
 * Attack: a client asks for claims of the user by their names (OpenID Connect Core section 5.5), to get what it may not
 * request by scope: claims of other identity scopes, claims of APIs, internal members of the user service, or members
 * that every object has. Or the holder of a token keeps what the token may read by exchanging it.
 */
import { defineGrant, type GrantResult } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { createTestProvider, sha256Of, storeGrant, testClient } from '@grantry/testing'
import { decodeJwt } from 'jose'
import * as v from 'valibot'
import { expect, test } from 'vitest'

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'
const badge = 'urn:example:badge'
const redirectUri = 'https://web.example.com/callback'
const user = { name: 'Alice', email: 'alice@example.com', tier: 'gold', password_hash: 'x', role: 'admin' }

/** A client that may request `profile`, but neither `email` nor `roles`. */
async function setUp(resultOf: (validated: object) => Partial<GrantResult> = () => ({})) {
  const asked: (readonly string[])[] = []
  const f = await createTestProvider({
    plugins: [
      authorizationCode(),
      tokenExchange({ allow: () => true }),
      defineGrant({
        grantType: badge,
        params: v.object({ token: v.string() }),
        async handle({ params, scopes }, kit) {
          const validated = await kit.validateToken(params.token, 'access_token')
          return { subject: { sub: 'alice', amr: ['badge'] }, scopes, ...resultOf(validated ?? {}) }
        },
      }),
    ],
    scopes: [{ name: 'api1', claims: ['tier'] }],
    users: {
      claims(_sub, names) {
        asked.push(names)
        return user
      },
    },
    clients: [
      {
        clientId: testClient[0],
        secrets: [{ sha256: sha256Of(testClient[1]) }],
        grantTypes: ['authorization_code', exchange, badge],
        scopes: ['openid', 'profile', 'api1'],
        redirectUris: [redirectUri],
      },
    ],
  })
  async function logIn(names: readonly string[]) {
    const code = await storeGrant(f.provider, {
      kind: 'code',
      clientId: testClient[0],
      redirectUri,
      scopes: ['openid'],
      subject: { sub: 'alice', amr: ['pwd'] },
      requestedClaims: { userinfo: names, identityToken: names },
    })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    return (await f.post('token', form, testClient)).body
  }
  const userinfo = async (token: string) => (await f.get('userinfo', {}, { authorization: `Bearer ${token}` })).body
  return { ...f, asked, logIn, userinfo }
}

test.each([
  ['a claim of a scope that the client may not request', 'email'],
  ['a claim with a special form', 'role'],
  ['a claim of an API', 'tier'],
  ['an internal member of the user service', 'password_hash'],
  ['a member of every object', 'constructor'],
  ['the prototype', '__proto__'],
  ['a claim of the protocol', 'aud'],
  ['the subject', 'sub'],
])('%s is not returned, and the user service is not asked for it: %s', async (_what, name) => {
  const f = await setUp()
  const { access_token, id_token } = await f.logIn(['name', name])
  expect(await f.userinfo(access_token)).toEqual({ sub: 'alice', name: 'Alice' })
  const expected = ['amr', 'at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'name', 'nbf', 'sub', 'txn']
  expect(Object.keys(decodeJwt(id_token)).sort()).toEqual(expected)
  expect(decodeJwt(id_token)).toMatchObject({ aud: testClient[0], sub: 'alice', name: 'Alice' })
  expect(f.asked).toEqual([['name'], ['name']])
})

test('an exchanged token reads no more than its scopes', async () => {
  const f = await setUp()
  const { access_token } = await f.logIn(['name'])
  const form = { grant_type: exchange, subject_token: access_token, subject_token_type: accessToken, scope: 'openid' }
  const exchanged = (await f.post('token', form, testClient)).body.access_token
  expect(decodeJwt(exchanged)).not.toHaveProperty('userinfo_claims')
  expect(await f.userinfo(exchanged)).toEqual({ sub: 'alice' })
})

test.each<[string, (validated: object) => Partial<GrantResult>, string]>([
  [
    'that continues a family',
    (validated) => ({ continuesFamilyOf: validated as never, requestedClaims: { userinfo: ['name'] } }),
    'cannot continue a family and set requestedClaims',
  ],
  ['that sets the claim itself', () => ({ claims: { userinfo_claims: ['name'] } }), 'userinfo_claims is reserved'],
])('a grant %s cannot name claims', async (_what, resultOf, message) => {
  const f = await setUp(resultOf)
  const { access_token: token } = await f.logIn([])
  const response = await f.post('token', { grant_type: badge, token, scope: 'openid' }, testClient)
  expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
  expect(String(response.failure)).toContain(message)
})
