import type { ClientOptions } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { api1, fixture, web } from '../support/fixture.ts'
import { alice, clientWith, refresh, started } from './refresh-settings.ts'

describe('a client that reuses its refresh token', () => {
  const reuse = { usage: 'reuse', absoluteLifetime: 1000, slidingLifetime: 400 } as const

  test('3.41 gets the same token back on every use', async () => {
    const { f, token } = await started(reuse)
    const [first, second] = [await refresh(f, token), await refresh(f, token)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect([first.body.refresh_token, second.body.refresh_token]).toEqual([token, token])
    expect(first.body.access_token).not.toBe(second.body.access_token)
    f.clock.advance(60)
    const three = await refresh(f, token)
    expect(three.body.refresh_token).toBe(token)
    expect((await f.post('introspection', { token: first.body.access_token }, api1)).body.active).toBe(true)
  })

  test('3.41 keeps both lifetimes', async () => {
    const { f, token } = await started(reuse)
    for (const seconds of [399, 399]) {
      f.clock.advance(seconds)
      expect((await refresh(f, token)).status).toBe(200)
    }
    f.clock.advance(201)
    expect((await refresh(f, token)).status).toBe(200)
    f.clock.advance(1)
    expect((await refresh(f, token)).body.error).toBe('invalid_grant')
    const { token: idle, f: g } = await started(reuse)
    g.clock.advance(400)
    expect((await refresh(g, idle)).body.error).toBe('invalid_grant')
  })

  test('3.41 narrows and never widens, and keeps the granted scope', async () => {
    const { f, token } = await started(reuse)
    expect((await refresh(f, token, { scope: 'api1' })).body.scope).toBe('api1')
    expect((await refresh(f, token)).body.scope).toBe('api1 offline_access')
    expect((await refresh(f, token, { scope: 'api2' })).body.error).toBe('invalid_scope')
  })

  test('3.41 is a confidential client: a public one is rejected at start', async () => {
    const client: ClientOptions = { clientId: 'spa', public: true, grantTypes: ['refresh_token'], refreshToken: reuse }
    await expect(fixture({ clients: [client] })).rejects.toThrow(/refreshToken.*must be "rotate" for a public client/u)
  })

  test('3.39 cannot restore a token that was rotated before it opted in', async () => {
    let client = clientWith({})
    const f = await fixture({
      clients: { find: (id) => (id === client.clientId ? client : undefined) },
    })
    const first = (await f.post('token', alice, web)).body
    const second = (await refresh(f, first.refresh_token)).body
    client = clientWith({ usage: 'reuse' })
    f.clock.advance(3600)
    const replayed = await refresh(f, first.refresh_token)
    expect(replayed.status).toBe(400)
    expect(replayed.body.error).toBe('invalid_grant')
    expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('a client that returns to rotation keeps using its current token', async () => {
    let client = clientWith({ usage: 'reuse' })
    const f = await fixture({
      clients: { find: (id) => (id === client.clientId ? client : undefined) },
    })
    const { refresh_token: token } = (await f.post('token', alice, web)).body
    await refresh(f, token)
    client = clientWith({})
    const next = await refresh(f, token)
    expect(next.status).toBe(200)
    expect(next.body.refresh_token).not.toBe(token)
  })
})
