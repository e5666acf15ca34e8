import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { app, originalKey, refused, service, setUp, typeOf } from './exchange-parties.ts'

describe('the subject token', () => {
  test('can be a refresh token of the same client, which is not spent', async () => {
    const f = await setUp()
    const { refresh_token } = await f.logIn()
    const more = { subject_token_type: typeOf('refresh_token'), scope: 'api' }
    expect((await f.exchange(refresh_token, more, app)).body.scope).toBe('api')
    expect((await f.exchange(refresh_token, more, app)).status).toBe(200)
    expect((await f.post({ grant_type: 'refresh_token', refresh_token }, app)).status).toBe(200)
  })

  test('can be an identity token of the same client', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const { id_token } = await f.logIn()
    const more = { subject_token_type: typeOf('id_token'), scope: 'api' }
    expect(claimsOf((await f.exchange(id_token, more, app)).body)).toMatchObject({
      sub: 'bdc@example.com',
      amr: ['pwd'],
    })
  })

  test.each(['refresh_token', 'id_token'])('cannot be the %s of another client', async (type) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const login = await f.logIn()
    const { status, body, failure } = await f.exchange(login[type], {
      subject_token_type: typeOf(type),
      scope: 'api',
    })
    expect([status, body, failure]).toEqual([400, refused, 'client_mismatch'])
  })

  test.each([
    ['access_token', 'id_token', 'id_token_invalid'],
    ['access_token', 'refresh_token', 'refresh_token_invalid'],
    ['access_token', 'jwt', 'issuer_unknown'],
    ['refresh_token', 'access_token', 'access_token_invalid'],
    ['id_token', 'access_token', 'access_token_invalid'],
    ['id_token', 'jwt', 'issuer_unknown'],
  ])('section 2.2.2: an %s as %s is refused', async (member, type, reason) => {
    const f = await setUp()
    const login = await f.logIn()
    const { status, body, failure } = await f.exchange(login[member], { subject_token_type: typeOf(type) }, app)
    expect([status, body, failure]).toEqual([400, refused, `plugin:token-exchange:${reason}`])
  })

  test('section 2.2.2: of a client, without a subject, is refused for this reason', async () => {
    const f = await setUp()
    for (const as of [app, service]) {
      const { body, failure } = await f.exchange(await f.clientToken(app), {}, as)
      expect([body, failure]).toEqual([refused, 'plugin:token-exchange:subject_missing'])
    }
  })

  test('section 2.1: of a client that is the subject is exchanged for the client itself, and for no other', async () => {
    const f = await setUp({}, undefined, { clientTokenSubject: 'client_id' })
    const token = await f.clientToken(app)
    const { status, body } = await f.exchange(token, {}, app)
    expect(status).toBe(200)
    const [before, after] = [claimsOf({ access_token: token }), claimsOf(body)]
    expect(after).toMatchObject({ sub: app[0], client_id: app[0], scope: 'front' })
    expect(after.auth_time).toBeUndefined()
    expect(Number(after.exp)).toBeLessThanOrEqual(Number(before.exp))
    const foreign = await f.exchange(token, {}, service)
    expect([foreign.body, foreign.failure]).toEqual([refused, 'plugin:token-exchange:subject_of_another_client'])
    f.clock.advance(2)
    await f.provider.revoke({ clientId: app[0] })
    expect((await f.exchange(body.access_token, {}, app)).failure).toBe('plugin:token-exchange:access_token_invalid')
  })

  test('section 2.2.2: of another issuer is refused without a mapping', async () => {
    const f = await setUp({ subject: undefined })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc' }))
    const { body, failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect([body, failure]).toEqual([refused, 'plugin:token-exchange:subject_unknown'])
  })

  test.each([
    ['expired', { exp: 1_799_999_000 }, 'expired'],
    ['for another server', { aud: 'https://other.example.com' }, 'aud_invalid'],
    ['of an unknown issuer', { iss: 'https://evil.example.com' }, 'issuer_unknown'],
    ['that has just expired, within the clock tolerance', { exp: 1_799_999_995 }, 'expired'],
  ])('section 2.2.2: a JWT %s is refused', async (_, claims, reason) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', ...claims }))
    const { body, failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })
    expect([body, failure]).toEqual([refused, `plugin:token-exchange:${reason}`])
  })

  test('can be an access token of another issuer', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc' }), { typ: 'at+jwt' })
    expect((await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })).status).toBe(200)
  })
})

describe('the new token', () => {
  test.each(['access_token', 'refresh_token', 'id_token'])('is revoked with the login: from the %s', async (type) => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const login = await f.logIn()
    const more = { subject_token_type: typeOf(type), scope: 'api' }
    const token = (await f.exchange(login[type], more, app)).body.access_token
    const isActive = async () => (await f.provider.inspect(token)).valid
    expect(await isActive()).toBe(true)
    await f.post({ token: login.refresh_token }, app, 'revocation')
    expect(await isActive()).toBe(false)
  })

  test('expires no later than the subject token, also of another issuer', async () => {
    const f = await setUp({ allow: ({ scopes }) => ({ scopes }) })
    const { access_token } = await f.logIn()
    f.clock.advance(500)
    expect((await f.exchange(access_token, { scope: 'api' })).body.expires_in).toBe(100)
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc', exp: f.clock.now() + 30.9 }))
    expect((await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })).body.expires_in).toBe(30)
  })

  test('comes without a refresh token and an identity token', async () => {
    const f = await setUp()
    const { body } = await f.exchange((await f.logIn()).access_token, { scope: 'openid api offline_access' })
    expect(body).not.toHaveProperty('refresh_token')
    expect(body).not.toHaveProperty('id_token')
  })

  test('can be exchanged again', async () => {
    const f = await setUp()
    const first = await f.exchange((await f.logIn()).access_token)
    expect((await f.exchange(first.body.access_token, { scope: 'api' }, app)).body.scope).toBe('api')
  })

  test('has the claims that the policy adds', async () => {
    const f = await setUp({ allow: () => ({ claims: { reason: 'support' } }) })
    expect(claimsOf((await f.exchange((await f.logIn()).access_token)).body).reason).toBe('support')
  })
})
