// The refresh tokens of registered clients: their libraries do not ask for `offline_access`, and their processes share one
// refresh token in a file.
import { describe, expect, test } from 'vitest'
import { setUp } from './parties.ts'

const sdk = { scope: 'api1' }

describe('a registered client', () => {
  test('3.108 gets a refresh token without asking for offline_access', async () => {
    const f = await setUp()
    const { body } = await f.signIn(await f.registered(sdk), sdk)
    expect([body.scope, typeof body.refresh_token]).toEqual(['api1 offline_access', 'string'])
  })

  test('3.108 gets none together with openid, without the grant type, or if the operator does not want it', async () => {
    const f = await setUp()
    const client = await f.registered({ grant_types: ['authorization_code'] })
    expect((await f.signIn(client, sdk)).body.refresh_token).toBeUndefined()
    expect((await f.signIn(await f.registered(), { scope: 'openid api1' })).body.refresh_token).toBeUndefined()
    const never = await setUp({ refreshToken: { unasked: 'never' } })
    expect((await never.signIn(await never.registered(sdk), sdk)).body.refresh_token).toBeUndefined()
  })

  test('3.106 has two processes that refresh with one token, and later one of them with an old one', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { refresh_token: first } = (await f.signIn(client, sdk)).body
    const { refresh_token: second } = (await f.refresh(client, first)).body
    await f.refresh(client, second)
    f.clock.advance(1799)
    expect((await f.refresh(client, first)).body.refresh_token).toBe(second)
    f.clock.advance(1)
    expect((await f.refresh(client, first)).body.error).toBe('invalid_grant')
    expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
  })

  test('3.106 has the strict rule if the operator wants it', async () => {
    const f = await setUp({ refreshToken: { gracePeriod: 0 } })
    const client = await f.registered()
    const { refresh_token: first } = (await f.signIn(client, sdk)).body
    const { refresh_token: second } = (await f.refresh(client, first)).body
    f.clock.advance(11)
    for (const token of [first, second]) expect((await f.refresh(client, token)).status).toBe(400)
  })
})
