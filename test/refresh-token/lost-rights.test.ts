import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, lastReason, redirectUri, web } from '../support/fixture.ts'

const client: ClientOptions = {
  clientId: web[0],
  secrets: [{ sha256: sha256Of(web[1]) }],
  grantTypes: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'profile', 'offline_access', 'api1', 'api2'],
  redirectUris: [redirectUri],
  accessTokenFormat: 'reference',
}

/** A refresh token of alice for `openid profile offline_access api1`, and a client that the test may change later. */
async function started() {
  let current = client
  const f = await fixture({ clients: { find: (id) => (id === client.clientId ? current : undefined) } })
  const code = await f.code()
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const { body } = await f.post('token', form, web)
  expect(body.refresh_token).toEqual(expect.any(String))
  return {
    f,
    change(more: Partial<ClientOptions>) {
      current = { ...client, ...more }
    },
    refresh: (more: Record<string, string> = {}) =>
      f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token, ...more }, web),
  }
}

describe('a refresh after rights were lost', () => {
  test('3.45 the client lost the grant that started the family', async () => {
    const { f, change, refresh } = await started()
    change({ grantTypes: ['refresh_token'] })
    const { status, body } = await refresh()
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(lastReason(f)).toBe('grant_type_lost')
  })

  test('3.45 the client lost the refresh token grant: it may not use it at all', async () => {
    const { change, refresh } = await started()
    change({ grantTypes: ['authorization_code'] })
    const { status, body } = await refresh()
    expect(status).toBe(400)
    expect(body.error).toBe('unauthorized_client')
  })

  test.each(['api1', 'openid', 'profile', 'offline_access'])('3.45 the client lost the scope %s', async (lost) => {
    const { f, change, refresh } = await started()
    change({ scopes: client.scopes?.filter((scope) => scope !== lost) ?? [] })
    const { status, body } = await refresh()
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(lastReason(f)).toBe('scope_lost')
  })

  test('3.45 the client lost offline_access: a narrower request does not bypass it', async () => {
    const { change, refresh } = await started()
    change({ scopes: ['openid', 'profile', 'api1', 'api2'] })
    const { status, body } = await refresh({ scope: 'api1' })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(body).not.toHaveProperty('refresh_token')
  })

  test('3.45 the client lost a scope that was never granted: no effect', async () => {
    const { change, refresh } = await started()
    change({ scopes: ['openid', 'profile', 'offline_access', 'api1'] })
    expect((await refresh()).status).toBe(200)
  })

  // Client authentication comes first: a disabled client fails it.
  test('3.45 the client is disabled: its authentication fails', async () => {
    const { f, change, refresh } = await started()
    change({ enabled: false })
    const { status, headers, body } = await refresh()
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toMatch(/^Basic realm="/u)
    expect(body.error).toBe('invalid_client')
    expect(lastReason(f)).toBe('client_disabled')
  })

  test('3.45 the user is no longer active', async () => {
    const { f, refresh } = await started()
    f.users.alice = { sub: '1', password: 'alice-password', active: false, claims: {} }
    const { status, body } = await refresh()
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(lastReason(f)).toBe('user_inactive')
  })

  test('3.45 the user was deleted', async () => {
    const { f, refresh } = await started()
    delete f.users.alice
    expect((await refresh()).body.error).toBe('invalid_grant')
  })

  test.each([
    ['the grant', { grantTypes: ['refresh_token'] }],
    ['a scope', { scopes: ['offline_access'] }],
    ['its enabled flag', { enabled: false }],
  ])('3.45 a refusal after the loss of %s spends nothing: once restored, the token works', async (_, lost) => {
    const { change, refresh } = await started()
    change(lost)
    expect((await refresh()).status).not.toBe(200)
    change({})
    expect((await refresh()).status).toBe(200)
  })
})
