import type { ClientOptions, UserService } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { formats } from '../support/access-token.ts'
import { clients, type Fixture, fixture, type NewCode, redirectUri, web, webJwt } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const profile = { name: 'Jane', given_name: 'Jane', email: 'jane@example.com', email_verified: true, role: 'admin' }

/** A provider with a user who has these claims, and the names that it has asked the user service for. */
async function setUp(more: Partial<ClientOptions> = {}, service: Partial<UserService> = {}) {
  const asked: (readonly string[])[] = []
  const claims: UserService['claims'] = (_sub, names) => {
    asked.push(names)
    return { ...profile, password_hash: 'x' }
  }
  const f = await fixture({
    users: { authenticate: () => undefined, claims, ...service },
    clients: clients.map((client) => ({ ...client, ...more })),
  })
  return { ...f, asked }
}

async function redeem(f: Fixture, code: NewCode = {}, as = web) {
  const granted = { clientId: as[0], scopes: ['openid', 'offline_access'], ...code }
  const form = { grant_type: 'authorization_code', code: await f.code(granted), redirect_uri: redirectUri }
  return (await f.post('token', form, as)).body
}

async function refresh(f: Fixture, token: string, more = {}, as = web) {
  const response = await f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, as)
  return response.body
}

const userinfo = async (f: Fixture, token: string) =>
  (await f.get('userinfo', {}, { authorization: `Bearer ${token}` })).body

describe('identityClaims', () => {
  test('3.101 are in the identity token of a code and of each refresh, and nowhere else', async () => {
    const f = await setUp()
    let body = await redeem(f, { identityClaims: { sid: 's-1', locale: ['de'] } }, webJwt)
    for (let round = 0; round < 3; round += 1) {
      expect(decodeJwt(body.id_token)).toMatchObject({ sid: 's-1', locale: ['de'], sub: '1' })
      expect(decodeJwt(body.access_token)).not.toHaveProperty('sid')
      expect(await userinfo(f, body.access_token)).toEqual({ sub: '1' })
      body = await refresh(f, body.refresh_token, {}, webJwt)
    }
  })

  test.each(['sub', 'aud', 'exp', 'auth_time', 'amr', 'nonce', 'at_hash', 'grant_id', 'txn', 'sub_epoch', '__proto__'])(
    '3.101 cannot contain %s, which only the core sets',
    async (name) => {
      const f = await setUp()
      const identityClaims = JSON.parse(`{"fine":"x","${name}":"mine"}`)
      await expect(f.code({ identityClaims })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { reason: 'claim_reserved' },
      })
    },
  )

  test('3.101 of a grant are checked too', async () => {
    const grant = (identityClaims: Record<string, string>) =>
      testGrant({
        grantType: 'urn:example:badge',
        handle: ({ scopes }) => ({
          subject: { sub: '1', amr: ['badge'] },
          scopes,
          identityClaims,
          issue: { identityToken: true },
        }),
      })
    const form = { grant_type: 'urn:example:badge', scope: 'openid' }
    const { post } = await createTestProvider({ plugins: [grant({ sid: 's-1' })] })
    expect(decodeJwt((await post('token', form, testClient)).body.id_token).sid).toBe('s-1')
    const broken = await createTestProvider({ plugins: [grant({ sub: '2' })] })
    const { status, body, failure } = await broken.post('token', form, testClient)
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    expect(String(failure)).toContain('The claim sub is reserved')
  })
})

describe('requestedClaims', () => {
  const requestedClaims = { identityToken: ['email', 'nickname', 'email'], userinfo: ['name', 'role'] }

  test('3.102 the identity token contains the claims that were requested for it, also after a refresh', async () => {
    const f = await setUp()
    let body = await redeem(f, { requestedClaims })
    for (let round = 0; round < 3; round += 1) {
      const claims = decodeJwt(body.id_token)
      expect(claims).toMatchObject({ email: 'jane@example.com' })
      for (const name of ['nickname', 'name', 'role', 'email_verified']) expect(claims).not.toHaveProperty(name)
      body = await refresh(f, body.refresh_token)
    }
    expect(f.asked[0]).toEqual(['email', 'nickname'])
  })

  test.each(formats)(
    '5.21 returns the claims that were requested by name besides those of the scopes (%s)',
    async (_, as) => {
      const f = await setUp()
      let body = await redeem(f, { requestedClaims, scopes: ['openid', 'email', 'offline_access'] }, as)
      for (let round = 0; round < 3; round += 1) {
        const expected = { sub: '1', email: 'jane@example.com', email_verified: true, name: 'Jane', role: ['admin'] }
        expect(await userinfo(f, body.access_token)).toEqual(expected)
        body = await refresh(f, body.refresh_token, {}, as)
      }
    },
  )

  test('5.21 a token without requested claims names none, and one without openid neither', async () => {
    const f = await setUp()
    const plain = await redeem(f, { requestedClaims: { userinfo: [], identityToken: [] } }, webJwt)
    expect(decodeJwt(plain.access_token)).not.toHaveProperty('userinfo_claims')
    const granted = { requestedClaims, scopes: ['openid', 'api1', 'offline_access'] }
    const { access_token, refresh_token } = await redeem(f, granted, webJwt)
    expect(decodeJwt(access_token).userinfo_claims).toEqual(['name', 'role'])
    const narrowed = await refresh(f, refresh_token, { scope: 'api1' }, webJwt)
    expect(decodeJwt(narrowed.access_token)).not.toHaveProperty('userinfo_claims')
  })

  test('3.102 the user service is not asked without a request', async () => {
    const f = await setUp()
    await redeem(f)
    expect(f.asked).toEqual([])
  })

  test('3.102 a user service that fails is an error, not a token without claims', async () => {
    const f = await setUp({}, { claims: () => Promise.reject(new Error('secret')) })
    expect(await redeem(f, { requestedClaims })).not.toHaveProperty('id_token')
  })

  test.each<[string, unknown]>([
    ['more than 50 names', Array.from({ length: 51 }, (_, index) => `claim${index}`)],
    ['a name of 101 characters', ['x'.repeat(101)]],
    ['an empty name', ['']],
    ['a name that is no text', [1]],
    ['no list', 'name'],
  ])('3.102 %s is invalid_request, before there is a user', async (_what, names) => {
    const f = await setUp()
    const request = { kind: 'code', clientId: web[0], redirectUri, scopes: ['openid'] }
    for (const list of ['userinfo', 'identityToken']) {
      const checking = f.provider.openAuthorization({
        ...request,
        requestedClaims: { [list]: names as string[] },
      })
      await expect(checking).rejects.toMatchObject({ code: 'invalid_request' })
    }
    const unknown = { ...request, requestedClaims: { idToken: ['name'] } as object }
    await expect(f.provider.openAuthorization(unknown)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('userClaimsInIdentityToken of a client', () => {
  test('3.103 adds the claims of the granted scopes to its identity tokens', async () => {
    const f = await setUp({ userClaimsInIdentityToken: true })
    const scopes = ['openid', 'email', 'roles', 'offline_access']
    const requestedClaims = { identityToken: ['given_name'] }
    const { id_token, refresh_token } = await redeem(f, { scopes, requestedClaims })
    const expected = { email: 'jane@example.com', email_verified: true, role: ['admin'], given_name: 'Jane' }
    expect(decodeJwt(id_token)).toMatchObject(expected)
    expect(decodeJwt(id_token)).not.toHaveProperty('name')
    const narrowed = await refresh(f, refresh_token, { scope: 'openid roles' })
    expect(decodeJwt(narrowed.id_token)).toMatchObject({ role: ['admin'] })
    expect(decodeJwt(narrowed.id_token)).not.toHaveProperty('email')
  })

  test('3.103 is off by default', async () => {
    const f = await setUp()
    const { id_token } = await redeem(f, { scopes: ['openid', 'email'] })
    for (const name of ['email', 'scope', 'client_id', 'name']) expect(decodeJwt(id_token)).not.toHaveProperty(name)
  })
})
