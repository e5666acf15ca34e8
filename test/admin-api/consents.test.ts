// The consents of users over the admin API.
import { describe, expect, test } from 'vitest'
import { setting } from './setting.ts'

/** Consents of alice to the client `shop`. */
async function service() {
  const revoked: string[] = []
  const consents = {
    list: async (sub: string) =>
      sub === 'alice' && revoked.length === 0
        ? [{ clientId: 'shop/eu', scopes: ['openid', 'orders'], claims: ['email'] }]
        : [],
    async revoke(sub: string, clientId: string) {
      revoked.push(`${sub} ${clientId}`)
      return true
    },
  }
  return { ...(await setting({ host: { consents } })), revoked }
}

describe('a consent', () => {
  test('is listed, revoked once, and in the trail', async () => {
    const { send, trail, revoked } = await service()
    expect(await send('GET', '/users/alice/consents')).toMatchObject({
      status: 200,
      body: { items: [{ clientId: 'shop/eu', scopes: ['openid', 'orders'], claims: ['email'] }] },
    })
    expect((await send('DELETE', '/users/alice/consents/shop%2Feu')).status).toBe(204)
    expect(revoked).toEqual(['alice shop/eu'])
    expect((await trail())[0]).toMatchObject({
      action: 'user_consent_revoked',
      id: 'alice',
      before: { clientId: 'shop/eu', scopes: ['openid', 'orders'] },
    })
    expect(await send('DELETE', '/users/alice/consents/shop%2Feu')).toMatchObject({ status: 404 })
  })

  test('of a server without them is a problem', async () => {
    const { send } = await setting()
    expect(await send('GET', '/users/alice/consents')).toMatchObject({
      status: 404,
      body: { error: 'invalid_request' },
    })
    expect((await send('GET', '')).body.resources).not.toContain('consents')
  })
})
