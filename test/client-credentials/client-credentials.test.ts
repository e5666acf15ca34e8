import { describe, expect, test } from 'vitest'
import { api1, fixture, spaClientId, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials' }

describe('the client credentials grant', () => {
  test.each(['openid', 'profile', 'email', 'roles', 'offline_access', 'api1 openid', 'offline_access api1'])(
    '3.13 rejects "%s", which needs a user',
    async (scope) => {
      const f = await fixture()
      const { status, body } = await f.post('token', { ...grant, scope }, web)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_scope', error_description: expect.any(String) })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'scope_needs_subject' })
    },
  )

  test('3.14 returns only an access token', async () => {
    const f = await fixture()
    const { status, body } = await f.post('token', { ...grant, scope: 'api1 api2' }, web)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type'])
    const issued = f.events.flatMap((event) => (event.type === 'token_issued' ? [event.tokenType] : []))
    expect(issued).toEqual(['access_token'])
  })

  test('3.14 the token is client-only: it names no user', async () => {
    const f = await fixture()
    const { body } = await f.post('token', { ...grant, scope: 'api1' }, web)
    const introspected = await f.post('introspection', { token: body.access_token }, api1)
    expect(introspected.body).toMatchObject({ active: true, client_id: 'web', scope: 'api1' })
    for (const claim of ['sub', 'auth_time', 'idp', 'amr']) expect(introspected.body).not.toHaveProperty(claim)
  })

  test('3.14 ignores a user name in the request', async () => {
    const f = await fixture()
    const { body } = await f.post('token', { ...grant, scope: 'api1', username: 'alice', sub: '1' }, web)
    expect((await f.post('introspection', { token: body.access_token }, api1)).body).not.toHaveProperty('sub')
  })

  test('3.15 rejects a public client with this grant at start', async () => {
    const clients = [{ clientId: spaClientId, public: true, grantTypes: ['client_credentials'], scopes: ['api1'] }]
    await expect(fixture({ clients })).rejects.toThrow(/spa is public but uses client_credentials/u)
  })

  test('3.15 rejects a public client that a store returns at run time', async () => {
    const spa = { clientId: spaClientId, public: true, grantTypes: ['client_credentials'], scopes: ['api1'] }
    const f = await fixture({ clients: { find: (id) => (id === spaClientId ? spa : undefined) } })
    const { status, body } = await f.post('token', { ...grant, client_id: spaClientId, scope: 'api1' })
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'unauthorized_client', error_description: expect.any(String) })
    expect(f.events.at(-1)).toMatchObject({ reason: 'grant_type_not_allowed' })
  })
})
