// A user service that returns no clear result (a missing row, a forgotten `return`) must deny access.
import type { UserService } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { api1, fixture, testUsers, web } from '../support/fixture.ts'

const login = { grant_type: 'password', username: 'alice', password: 'alice-password' }

/** A provider whose users are active until `setIsActive` changes what `isActive` returns. */
async function changeable() {
  const { service } = testUsers()
  let isActive: () => unknown = () => true
  const users: UserService = { ...service, isActive: () => isActive() as boolean }
  const f = await fixture({ users })
  return {
    f,
    send: () => f.post('token', { ...login, scope: 'openid api1 offline_access' }, web),
    setIsActive(next: () => unknown) {
      isActive = next
    },
  }
}

const returnValues: readonly [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['a promise of undefined', async () => undefined],
  ['a promise of null', async () => null],
  ['false', () => false],
  ['0', () => 0],
  ['text', () => 'false'],
  ['an object', () => ({ active: false })],
]

describe.each(returnValues)('isActive that returns %s', (_, returnValue) => {
  test('rejects a login', async () => {
    const s = await changeable()
    s.setIsActive(returnValue)
    const { status, body } = await s.send()
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(s.f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'user_inactive' })
    expect(s.f.events.map(({ type }) => type)).not.toContain('token_issued')
  })

  test('rejects every token that was issued before', async () => {
    const { f, send, setIsActive } = await changeable()
    const tokens = (await send()).body
    const { id_token: identity } = (
      await f.post('token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }, web)
    ).body
    const token = String(tokens.access_token)
    const all = async () => ({
      userinfo: (await f.get('userinfo', {}, { authorization: `Bearer ${token}` })).status,
      introspection: (await f.post('introspection', { token }, api1)).body.active,
      accessToken: (await f.get('accessTokenValidation', { token })).status,
      identityToken: (await f.get('identityTokenValidation', { token: String(identity), client_id: web[0] })).status,
    })
    expect(await all()).toEqual({ userinfo: 200, introspection: true, accessToken: 200, identityToken: 200 })
    setIsActive(returnValue)
    expect(await all()).toEqual({ userinfo: 401, introspection: false, accessToken: 400, identityToken: 400 })
  })
})

test('without isActive every user is active', async () => {
  const { service } = testUsers()
  const { authenticate } = service
  if (authenticate === undefined) throw new Error('the fixture has no authenticate')
  const f = await fixture({ users: { authenticate } })
  expect((await f.post('token', { ...login, scope: 'api1' }, web)).status).toBe(200)
})
