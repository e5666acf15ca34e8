import { createTestProvider, type TestProvider, testClient } from '@grantry/testing'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { badge, type Decide, holder, present, start } from './badge-grant.ts'

const introspect = async (f: TestProvider, token: string) =>
  (await f.post('introspection', { token }, ['api1', 'api1-secret'])).body

describe('decisions of a custom grant', () => {
  test('3.49 with a subject, issues a token of that user', async () => {
    const subject = { sub: '42', amr: ['badge', 'pin'], authTime: 1_799_999_999, idp: 'doors', acr: 'low' }
    const f = await start(({ scopes }) => ({ subject, scopes }))
    const { body } = await present(f)
    expect(await introspect(f, body.access_token)).toMatchObject({
      active: true,
      sub: '42',
      amr: ['badge', 'pin'],
      auth_time: 1_799_999_999,
      idp: 'doors',
      acr: 'low',
    })
  })

  test('3.49 without a subject, issues a client-only token', async () => {
    const f = await start(({ scopes }) => ({ scopes }))
    const { body } = await present(f)
    const claims = await introspect(f, body.access_token)
    expect(claims).toMatchObject({ active: true, client_id: 'test-client' })
    for (const claim of ['sub', 'auth_time', 'idp', 'amr']) expect(claims).not.toHaveProperty(claim)
  })

  test.each(['openid', 'profile', 'offline_access'])('3.49 without a subject, rejects %s', async (scope) => {
    const f = await start(({ scopes }) => ({ scopes }))
    const { status, body } = await present(f, { scope: `api1 ${scope}` })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_scope')
  })

  test('3.49 rejects a subject who is not active', async () => {
    const decide: Decide = ({ scopes }) => ({ subject: holder, scopes })
    const f = await createTestProvider({ plugins: [badge(decide)], users: { isActive: (sub) => sub !== '1' } })
    const { status, body } = await present(f)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(f.events.at(-1)).toMatchObject({ reason: 'user_inactive' })
  })

  test('3.50 extra claims are in the access token, with their types, also after a refresh', async () => {
    const claims = { door: 'north', floor: 3, guest: false, zones: ['a', 'b'], card: { uid: 'x' }, gone: null }
    const f = await start(({ scopes }) => ({ subject: holder, scopes, claims }))
    const first = (await present(f, { scope: 'api1 offline_access' })).body
    expect(await introspect(f, first.access_token)).toMatchObject(claims)
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const second = (await f.post('token', form, testClient)).body
    expect(await introspect(f, second.access_token)).toMatchObject(claims)
  })

  test('3.50 adds response members', async () => {
    const f = await start(({ scopes }) => ({ scopes, response: { door_open: true, rooms: ['r1'], note: null } }))
    const { body } = await present(f)
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'api1', door_open: true, rooms: ['r1'], note: null })
  })

  test('may grant less than was requested', async () => {
    const f = await start(() => ({ subject: holder, scopes: ['api1'] }))
    expect((await present(f, { scope: 'api1 profile' })).body.scope).toBe('api1')
  })

  test('may choose the format, forbid a refresh token, request an identity token, and shorten the lifetime', async () => {
    const f = await start(({ scopes }) => ({
      subject: holder,
      scopes,
      nonce: 'n-7',
      issue: { accessToken: 'jwt', refreshToken: false, identityToken: true, lifetime: 60 },
    }))
    const { body } = await present(f, { scope: 'openid api1 offline_access' })
    expect(decodeProtectedHeader(body.access_token).typ).toBe('at+jwt')
    expect(body.expires_in).toBe(60)
    expect(decodeJwt(body.access_token).exp).toBe(f.clock.now() + 60)
    expect(body).not.toHaveProperty('refresh_token')
    expect(decodeJwt(body.id_token)).toMatchObject({ sub: '1', nonce: 'n-7', amr: ['badge'] })
  })

  test('cannot lengthen the lifetime', async () => {
    const f = await start(({ scopes }) => ({ scopes, issue: { lifetime: 999_999 } }))
    expect((await present(f)).body.expires_in).toBe(3600)
  })

  test('gets no identity token without openid or without a subject', async () => {
    const withSubject = await start(({ scopes }) => ({ subject: holder, scopes, issue: { identityToken: true } }))
    expect((await present(withSubject)).body).not.toHaveProperty('id_token')
    const without = await start(({ scopes }) => ({ scopes, issue: { identityToken: true } }))
    expect((await present(without)).body).not.toHaveProperty('id_token')
  })
})
