import { describe, expect, test } from 'vitest'
import { fixture, redirectUri, web } from '../support/fixture.ts'
import { alice, clientWith, refresh, started } from './refresh-settings.ts'

const day = 86_400

describe('lifetime of refresh tokens', () => {
  test('3.43 expires after 15 days without use', async () => {
    const { f, token } = await started()
    f.clock.advance(15 * day)
    const { status, body } = await refresh(f, token)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: 'The refresh token is not valid' })
    expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
  })

  test('3.43 one second earlier it is renewed for another 15 days', async () => {
    const { f, token } = await started()
    f.clock.advance(15 * day - 1)
    const second = await refresh(f, token)
    expect(second.status).toBe(200)
    f.clock.advance(15 * day - 1)
    expect((await refresh(f, second.body.refresh_token)).status).toBe(200)
  })

  test('3.42 ends 30 days after the first token, however often it is used', async () => {
    const { f, token } = await started()
    let latest = token
    for (let days = 0; days < 29; days += 1) {
      f.clock.advance(day)
      const { status, body } = await refresh(f, latest)
      expect(status).toBe(200)
      latest = body.refresh_token
    }
    f.clock.advance(day)
    expect((await refresh(f, latest)).body.error).toBe('invalid_grant')
  })

  test('3.42 one second before the end it still works', async () => {
    const { f, token } = await started({ absoluteLifetime: 1000, slidingLifetime: 600 })
    f.clock.advance(500)
    const second = await refresh(f, token)
    f.clock.advance(499)
    expect((await refresh(f, second.body.refresh_token)).status).toBe(200)
  })

  test('3.43 the sliding lifetime is capped by the absolute one', async () => {
    const { f, token } = await started({ absoluteLifetime: 1000, slidingLifetime: 600 })
    f.clock.advance(500)
    const second = await refresh(f, token)
    expect(second.status).toBe(200)
    f.clock.advance(500)
    expect((await refresh(f, second.body.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.43 a sliding lifetime longer than the absolute one has no effect', async () => {
    const { f, token } = await started({ absoluteLifetime: 100, slidingLifetime: 600 })
    f.clock.advance(100)
    expect((await refresh(f, token)).body.error).toBe('invalid_grant')
  })

  test('3.42 each login has its own lifetime', async () => {
    const { f } = await started({ absoluteLifetime: 1000, slidingLifetime: 1000 })
    f.clock.advance(900)
    const later = (await f.post('token', alice, web)).body.refresh_token
    f.clock.advance(900)
    expect((await refresh(f, later)).status).toBe(200)
  })

  test('3.42 is counted from the first token, not from its code', async () => {
    const settings = clientWith({ absoluteLifetime: 1000, slidingLifetime: 1000 })
    const codeClient = { ...settings, grantTypes: ['authorization_code', 'refresh_token'], redirectUris: [redirectUri] }
    const f = await fixture({ clients: [codeClient] })
    const code = await f.code({ scopes: ['api1', 'offline_access'] })
    f.clock.advance(50)
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { refresh_token } = (await f.post('token', redeem, web)).body
    f.clock.advance(999)
    expect((await refresh(f, refresh_token)).status).toBe(200)
  })
})
