import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  api1,
  api2,
  type Fixture,
  fixture,
  lastReason,
  otherClient,
  proof,
  redirectUri,
  spaClientId,
  web,
} from '../support/fixture.ts'

const notValid = { error: 'invalid_grant', error_description: 'The refresh token is not valid' }

const refresh = (f: Fixture, token: string, more: Record<string, string> = {}, as = web) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, as)

/** The refresh token that alice granted to `web`: `openid profile offline_access api1`. */
async function started() {
  const f = await fixture()
  const code = await f.code({ nonce: 'n-1', subject: { sub: '1', amr: ['pwd'], authTime: 1_799_999_000, idp: 'ldap' } })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return { f, first: (await f.post('token', form, web)).body }
}

describe('the refresh token grant', () => {
  test.each([
    ['missing', {}, 'parameter_missing'],
    ['empty', { refresh_token: '' }, 'parameter_missing'],
  ])('3.5 a refresh token that is %s is an invalid request', async (_, form, reason) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { grant_type: 'refresh_token', ...form }, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining('refresh_token') })
    expect(lastReason(f)).toBe(reason)
  })

  test.each([
    ['an unknown token', 'x'.repeat(43)],
    ['512 characters', 'x'.repeat(512)],
    ['a path', '../../etc/passwd'],
    ['513 characters', 'x'.repeat(513)],
    ['60,000 characters', 'x'.repeat(60_000)],
    ['a JWT', 'e30.e30.e30'],
    ['a JWT of 5,000 characters', `e30.${'a'.repeat(4992)}.e30`],
    ['a blank', ' '],
  ])('3.36 %s is not a valid refresh token', async (_, token) => {
    const f = await fixture()
    const { status, body } = await refresh(f, token)
    expect(status).toBe(400)
    expect(body).toEqual(notValid)
    expect(lastReason(f)).toBe('plugin:refresh_token:token_unknown')
  })

  test('an access token or a code is not a refresh token', async () => {
    const { f, first } = await started()
    expect((await refresh(f, first.access_token)).body).toEqual(notValid)
    const code = await f.code()
    expect((await refresh(f, code)).body).toEqual(notValid)
    // Conversely, a refresh token is not a code.
    const form = { grant_type: 'authorization_code', code: first.refresh_token, redirect_uri: redirectUri }
    expect((await f.post('token', form, web)).body.error).toBe('invalid_grant')
    expect((await refresh(f, first.refresh_token)).status).toBe(200)
  })

  test('3.36 belongs to one client: another one is rejected, and neither spends nor revokes it', async () => {
    const { f, first } = await started()
    const { status, body } = await refresh(f, first.refresh_token, {}, otherClient)
    expect(status).toBe(400)
    expect(body).toEqual(notValid)
    expect(lastReason(f)).toBe('client_mismatch')
    expect((await refresh(f, first.refresh_token)).status).toBe(200)
  })

  test('3.36 a replay of a rotated token by another client revokes nothing', async () => {
    const { f, first } = await started()
    const second = (await refresh(f, first.refresh_token)).body
    f.clock.advance(60)
    expect((await refresh(f, first.refresh_token, {}, otherClient)).body).toEqual(notValid)
    expect((await refresh(f, second.refresh_token)).status).toBe(200)
  })

  test('3.38 is rotated: returns a new one that works', async () => {
    const { f, first } = await started()
    const { status, body } = await refresh(f, first.refresh_token)
    expect(status).toBe(200)
    expect(body.refresh_token).toMatch(/^[\w-]{43,}$/u)
    expect(body.refresh_token).not.toBe(first.refresh_token)
    expect(body.access_token).not.toBe(first.access_token)
    expect((await refresh(f, body.refresh_token)).status).toBe(200)
    expect(f.events.filter(({ type }) => type === 'refresh_rotated')).toHaveLength(2)
  })

  test('3.38 is rotated for a public client too, without a secret', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier }
    const first = (await f.post('token', { ...redeem, client_id: spaClientId })).body
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token, client_id: spaClientId }
    const { status, body } = await f.post('token', form)
    expect(status).toBe(200)
    expect(body.refresh_token).not.toBe(first.refresh_token)
  })

  test('the earlier access token stays valid until it expires', async () => {
    const { f, first } = await started()
    await refresh(f, first.refresh_token)
    expect((await f.post('introspection', { token: first.access_token }, api1)).body.active).toBe(true)
  })
})

describe('the scope of a refresh', () => {
  test('3.37 may narrow, in any order', async () => {
    const { f, first } = await started()
    const { status, body } = await refresh(f, first.refresh_token, { scope: 'api1 openid' })
    expect(status).toBe(200)
    expect(body.scope).toBe('api1 openid')
    const introspected = await f.post('introspection', { token: body.access_token }, api1)
    expect(introspected.body).toMatchObject({ active: true, scope: 'api1' })
  })

  test('3.37 narrows only this access token: the next refresh may request everything again (RFC 6749 section 6)', async () => {
    const { f, first } = await started()
    const second = (await refresh(f, first.refresh_token, { scope: 'api1' })).body
    expect(second.refresh_token).toEqual(expect.any(String))
    const third = (await refresh(f, second.refresh_token)).body
    expect(third.scope).toBe('openid profile offline_access api1')
  })

  test.each(['api2', 'openid api1 api2', 'email'])(
    '3.37 never widens: "%s" is rejected and spends nothing',
    async (scope) => {
      const { f, first } = await started()
      const { status, body } = await refresh(f, first.refresh_token, { scope })
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_scope', error_description: expect.any(String) })
      expect(lastReason(f)).toBe('plugin:refresh_token:scope_widened')
      expect((await refresh(f, first.refresh_token)).status).toBe(200)
    },
  )

  test.each(['api9', 'api1\topenid', '\t'])(
    '3.12 "%s" is not a valid scope here either, and spends nothing',
    async (scope) => {
      const { f, first } = await started()
      expect((await refresh(f, first.refresh_token, { scope })).body.error).toBe('invalid_scope')
      expect((await refresh(f, first.refresh_token)).status).toBe(200)
    },
  )

  test('3.37 a narrowed token is rejected at the API that was left out', async () => {
    const f = await fixture()
    const code = await f.code({ scopes: ['api1', 'api2', 'offline_access'] })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const first = (await f.post('token', form, web)).body
    const second = (await refresh(f, first.refresh_token, { scope: 'api1' })).body
    expect((await f.post('introspection', { token: second.access_token }, api2)).body).toEqual({ active: false })
  })
})

describe('the identity token of a refresh', () => {
  test('3.44 names the same user and authentication, and has no nonce', async () => {
    const { f, first } = await started()
    f.clock.advance(1000)
    const before = decodeJwt(first.id_token)
    const after = decodeJwt((await refresh(f, first.refresh_token)).body.id_token)
    expect(before.nonce).toBe('n-1')
    expect(after).not.toHaveProperty('nonce')
    for (const claim of ['iss', 'sub', 'aud', 'auth_time', 'idp', 'amr']) expect(after[claim]).toEqual(before[claim])
    expect(after.auth_time).toBe(1_799_999_000)
    expect(after.iat).toBe(f.clock.now())
    expect(after.exp).toBe(f.clock.now() + 300)
  })

  test('3.44 is returned only when openid was granted', async () => {
    const f = await fixture()
    const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }
    const { body } = await f.post('token', { ...alice, scope: 'profile api1 offline_access' }, web)
    expect((await refresh(f, body.refresh_token)).body).not.toHaveProperty('id_token')
  })

  test('3.44 is absent from a refresh that leaves openid out', async () => {
    const { f, first } = await started()
    expect((await refresh(f, first.refresh_token, { scope: 'profile api1' })).body).not.toHaveProperty('id_token')
  })
})
