import type { ClientOptions } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { clients, fixture, proof, redirectUri, spaClientId, web } from '../support/fixture.ts'

const spa: ClientOptions = {
  clientId: spaClientId,
  public: true,
  grantTypes: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'profile', 'offline_access', 'api1'],
  redirectUris: [redirectUri],
}
const codeForm = { grant_type: 'authorization_code', redirect_uri: redirectUri }
const challenge = { clientId: spaClientId, codeChallenge: proof.challenge }

describe('a public client', () => {
  test('2.7 is identified by its client_id alone', async () => {
    const f = await fixture()
    const form = { ...codeForm, code: await f.code(challenge), code_verifier: proof.verifier, client_id: spaClientId }
    expect((await f.post('token', form)).status).toBe(200)
    const event = { type: 'client_authentication_succeeded', method: 'none', clientId: spaClientId }
    expect(f.events).toContainEqual(expect.objectContaining(event))
  })

  test.each([
    ['a secret in the form', { client_id: spaClientId, client_secret: 'x' }, undefined],
    ['a secret in the header', {}, [spaClientId, 'x']],
    ['an empty secret in the header', {}, [spaClientId, '']],
  ] as const)('2.7 rejects any secret: %s', async (_, credentials, as) => {
    const f = await fixture()
    const form = { ...codeForm, code: await f.code(challenge), code_verifier: proof.verifier, ...credentials }
    const { status, body } = await f.post('token', form, as)
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  test('2.7 a client that is not declared public is rejected with its client_id alone', async () => {
    const f = await fixture()
    const code = await f.code({ codeChallenge: proof.challenge })
    const form = { ...codeForm, code, code_verifier: proof.verifier }
    const { status, body } = await f.post('token', { ...form, client_id: web[0] })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test('2.7 rejects a disabled public client', async () => {
    const f = await fixture({ clients: [{ ...spa, enabled: false }] })
    const { status, body } = await f.post('token', { ...codeForm, code: 'x', client_id: spaClientId })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  test('2.7 rejects a public client with a secret at start', async () => {
    const secrets = clients[0]?.secrets ?? []
    await expect(fixture({ clients: [{ ...spa, secrets }] })).rejects.toThrow('must be empty for a public client')
  })
})

describe('requirements for a public client', () => {
  test('2.8 creates no code for it without a code_challenge', async () => {
    const f = await fixture()
    const start = f.code({ clientId: spaClientId })
    await expect(start).rejects.toMatchObject({
      code: 'invalid_request',
      details: { reason: 'plugin:proof-key:challenge_required' },
    })
  })

  test.each([{}, { code_verifier: proof.challenge }])('2.8 redeems no code without its verifier: %j', async (more) => {
    const f = await fixture()
    const form = { ...codeForm, code: await f.code(challenge), client_id: spaClientId, ...more }
    const { status, body } = await f.post('token', form)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
  })

  // Attack: a code without a challenge, created while the client still had a secret, or written to the store.
  test('2.8 a public client cannot redeem a code without a challenge', async () => {
    const { public: _, ...confidential } = spa
    let current: ClientOptions = { ...confidential, secrets: clients[0]?.secrets ?? [] }
    const f = await fixture({ clients: { find: () => current } })
    const code = await f.code({ clientId: spaClientId })
    current = spa
    const { status, body } = await f.post('token', { ...codeForm, code, client_id: spaClientId })
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'proof_key_required' })
  })

  test('2.8 rotates its refresh tokens', async () => {
    const f = await fixture()
    const form = { ...codeForm, code: await f.code(challenge), code_verifier: proof.verifier, client_id: spaClientId }
    const { body: first } = await f.post('token', form)
    const refresh = (token: string) =>
      f.post('token', { grant_type: 'refresh_token', refresh_token: token, client_id: spaClientId })
    const { status, body: second } = await refresh(first.refresh_token)
    expect(status).toBe(200)
    expect(second.refresh_token).toMatch(/^[\w-]{43}$/u)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    f.clock.advance(11)
    expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('2.8 rejects a public client that reuses its refresh token at start', async () => {
    const start = fixture({ clients: [{ ...spa, refreshToken: { usage: 'reuse' } }] })
    await expect(start).rejects.toThrow(/refreshToken.* must be "rotate" for a public client/u)
  })

  test.each(['client_credentials', 'password'])(
    '2.8 rejects a public client with the grant type %s at start',
    async (grantType) => {
      await expect(fixture({ clients: [{ ...spa, grantTypes: [grantType] }] })).rejects.toThrow(
        'requires a client with a secret',
      )
    },
  )

  test.each(['client_credentials', 'password'])('2.8 a public client of a store cannot use %s', async (grantType) => {
    const f = await fixture({ clients: { find: () => ({ ...spa, grantTypes: [grantType] }) } })
    const form = { grant_type: grantType, username: 'alice', password: 'alice-password', scope: 'api1' }
    const { status, body } = await f.post('token', { ...form, client_id: spaClientId })
    expect([status, body.error]).toEqual([400, 'unauthorized_client'])
  })
})
