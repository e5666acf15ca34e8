// The authorizations of users over the admin API.
import { describe, expect, test } from 'vitest'
import { setting } from './setting.ts'

const laptop = {
  family: 'laptop',
  clientId: 'https://app.example.com/client.json',
  scopes: ['read'],
  audiences: ['https://files.example.com/mcp'],
  startedAt: 1,
  expiresAt: 2,
}

describe('an authorization', () => {
  test('of the user is listed, ended alone, and in the trail', async () => {
    const revoked: object[] = []
    const authorizations = {
      list: async (sub: string) => (sub === 'alice' ? [laptop, { ...laptop, family: 'server' }] : []),
    }
    const revoke = async (target: object) => {
      revoked.push(target)
    }
    const { send, trail } = await setting({ host: { authorizations, revoke } })
    const { status, body } = await send('GET', '/users/alice/authorizations')
    expect([status, body]).toEqual([200, { items: [laptop, { ...laptop, family: 'server' }] }])
    expect((await send('DELETE', '/users/bob/authorizations/laptop')).status).toBe(404)
    expect((await send('DELETE', '/users/alice/authorizations/other')).status).toBe(404)
    expect(revoked).toEqual([])
    expect((await send('DELETE', '/users/alice/authorizations/laptop')).status).toBe(204)
    expect(revoked).toEqual([{ family: 'laptop' }])
    expect((await trail())[0]).toMatchObject({
      action: 'user_authorization_ended',
      id: 'alice',
      before: { family: 'laptop', clientId: laptop.clientId },
    })
  })

  test('of a server without them is a problem', async () => {
    const { send } = await setting()
    expect(await send('GET', '/users/alice/authorizations')).toMatchObject({ status: 404 })
  })
})
