import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'
import { formats, issueTokens, refresh } from '../support/revocation.ts'

const codeForm = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })

describe('inspect()', () => {
  test.each(formats)('returns the claims and the family of an access token (%s)', async (format, as) => {
    const f = await fixture()
    const { access_token, refresh_token } = await issueTokens(f, as)
    const { family } = await f.provider.inspect(refresh_token)
    expect(await f.provider.inspect(access_token)).toMatchObject({
      kind: 'access_token',
      format: format === 'JWT' ? 'jwt' : 'reference',
      valid: true,
      claims: { client_id: as[0], sub: '1', grant_id: family },
      family,
    })
  })

  test('does not spend a code or a refresh token', async () => {
    const f = await fixture()
    const code = await f.code()
    expect(await f.provider.inspect(code)).toMatchObject({
      kind: 'authorization_code',
      valid: true,
      claims: { sub: '1' },
    })
    const { status, body } = await f.post('token', codeForm(code), web)
    expect(status).toBe(200)
    expect(await f.provider.inspect(code)).toMatchObject({ valid: false, reason: 'spent' })
    expect(await f.provider.inspect(body.refresh_token)).toMatchObject({ kind: 'refresh_token', valid: true })
    expect((await refresh(f, body.refresh_token)).status).toBe(200)
    expect(await f.provider.inspect(body.refresh_token)).toMatchObject({ valid: false, reason: 'spent' })
    expect(await f.provider.inspect(body.id_token)).toMatchObject({
      kind: 'identity_token',
      format: 'jwt',
      valid: true,
      family: (await f.provider.inspect(code)).family,
    })
  })

  const endings: readonly (readonly [string, string, (f: Fixture) => unknown])[] = [
    ['expired', 'expired', (f) => f.clock.advance(3601)],
    ['of a revoked subject', 'subject_revoked', (f) => f.provider.revoke({ subject: '1' })],
    ['of a revoked client', 'client_revoked', (f) => f.provider.revoke({ clientId: 'web-jwt' })],
    ['of an inactive user', 'user_inactive', (f) => Object.assign(f.users.alice ?? {}, { active: false })],
  ]
  test.each(endings)('for one that is %s returns %s', async (_what, reason, end) => {
    const f = await fixture()
    const { access_token } = await issueTokens(f, webJwt)
    await end(f)
    expect(await f.provider.inspect(access_token)).toMatchObject({ valid: false, reason, claims: { sub: '1' } })
  })

  test('returns expired for a reference token in the minute after its end', async () => {
    const f = await fixture()
    const { access_token } = await issueTokens(f)
    f.clock.advance(3600)
    expect(await f.provider.inspect(access_token)).toMatchObject({ valid: false, reason: 'expired' })
  })

  test('attack: reports a JWT with another signature as such, and a foreign issuer', async () => {
    const f = await fixture()
    const { access_token } = await issueTokens(f, webJwt)
    const [header, payload = '', signature = ''] = access_token.split('.')
    const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    const forged = btoa(JSON.stringify({ ...claims, sub: '2' }))
      .replaceAll('=', '')
      .replaceAll('+', '-')
      .replaceAll('/', '_')
    expect(await f.provider.inspect(`${header}.${forged}.${signature}`)).toMatchObject({
      valid: false,
      reason: 'signature_invalid',
      claims: { sub: '2' },
    })
    const theirs = await fixture({ issuer: 'https://other.example.com' })
    expect(await theirs.provider.inspect(access_token)).toMatchObject({ valid: false, reason: 'issuer_mismatch' })
  })

  test.each(['nothing', '', 'a.b.c', `${'x'.repeat(60_000)}`, '.', '..', 'é\u0000'])(
    'returns unknown for %j',
    async (token) => {
      const f = await fixture()
      expect(await f.provider.inspect(token)).toEqual({
        kind: 'unknown',
        format: undefined,
        valid: false,
        reason: 'token_unknown',
        claims: {},
      })
    },
  )

  test('records no event', async () => {
    const f = await fixture()
    const { access_token, refresh_token } = await issueTokens(f)
    const before = f.events.length
    await f.provider.inspect(access_token)
    await f.provider.inspect(refresh_token)
    expect(f.events).toHaveLength(before)
  })
})
