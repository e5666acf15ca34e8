import type { Json, ScopeOptions, UserService } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { formats } from '../support/access-token.ts'
import { clients, type Fixture, fixture, web } from '../support/fixture.ts'

const everything: Record<string, Json> = {
  name: 'Jane Doe',
  email: 'jane@example.com',
  email_verified: true,
  role: 'admin',
  badge_id: 4711,
  badge: { colour: 'red', doors: ['a', 'b'] },
  'https://example.com/claims/department': 'R&D',
}

function withScopes(scopes: readonly ScopeOptions[], users: Partial<UserService> = {}): Promise<Fixture> {
  const names = ['openid', 'profile', 'email', 'roles', 'offline_access', ...scopes.map(({ name }) => name)]
  return fixture({
    scopes,
    clients: clients.map((client) => ({ ...client, scopes: [...new Set(names)] })),
    users: { authenticate: () => ({ sub: '7' }), claims: () => everything, ...users },
  })
}

const request = (f: Fixture, scope: string, client: typeof web = web) =>
  f.post('token', { grant_type: 'password', username: 'jane', password: 'x', scope }, client)

async function userinfo(f: Fixture, scope: string, client: typeof web = web): Promise<Record<string, Json>> {
  const { access_token } = (await request(f, scope, client)).body
  const response = await f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
  expect(response.status).toBe(200)
  return response.body
}

describe('a custom identity scope', () => {
  const badge: ScopeOptions = {
    name: 'badge',
    identity: true,
    claims: ['badge_id', 'badge', 'https://example.com/claims/department'],
  }

  test.each(formats)('5.15 returns the configured claims, with their types (%s)', async (_, client) => {
    expect(await userinfo(await withScopes([badge]), 'openid badge', client)).toEqual({
      sub: '7',
      badge_id: 4711,
      badge: { colour: 'red', doors: ['a', 'b'] },
      'https://example.com/claims/department': 'R&D',
    })
  })

  test('5.15 returns nothing unless it was granted', async () => {
    expect(await userinfo(await withScopes([badge]), 'openid email')).toEqual({
      sub: '7',
      email: 'jane@example.com',
      email_verified: true,
    })
  })

  test('5.15 may share claims with another scope', async () => {
    const f = await withScopes([badge, { name: 'contact', identity: true, claims: ['email', 'badge_id', 'role'] }])
    expect(await userinfo(f, 'openid contact')).toEqual({
      sub: '7',
      email: 'jane@example.com',
      badge_id: 4711,
      // Always an array, whichever scope includes it.
      role: ['admin'],
    })
  })

  test('5.15 without claims returns only sub', async () => {
    expect(await userinfo(await withScopes([{ name: 'empty', identity: true }]), 'openid empty')).toEqual({ sub: '7' })
  })

  test('5.15 adds nothing to the access token', async () => {
    const f = await withScopes([badge])
    const token = (await request(f, 'openid badge')).body.access_token
    const { body } = await f.post('accessTokenValidation', { token })
    expect(body).not.toHaveProperty('badge_id')
    expect(body.scope).toBe('openid badge')
  })

  test('5.15 differs from an API scope: the claims of an API are for its access tokens, not for userinfo', async () => {
    const f = await withScopes([badge, { name: 'api9', claims: ['email', 'role'] }])
    const claims = await userinfo(f, 'openid badge api9')
    expect(claims).toHaveProperty('badge_id')
    expect(claims).not.toHaveProperty('email')
    expect(claims).not.toHaveProperty('role')
  })

  test('5.15 without openid does not give access to userinfo', async () => {
    const f = await withScopes([badge])
    const { access_token } = (await request(f, 'badge')).body
    const response = await f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
    expect([response.status, response.body.error]).toEqual([403, 'insufficient_scope'])
  })

  test('5.15 is rejected for client credentials, like every identity scope', async () => {
    const f = await withScopes([badge])
    const response = await f.post('token', { grant_type: 'client_credentials', scope: 'badge' }, web)
    expect([response.status, response.body.error]).toEqual([400, 'invalid_scope'])
  })
})

describe('a redefined standard scope', () => {
  test('5.15 returns the new claims instead of the old ones', async () => {
    const f = await withScopes([{ name: 'profile', identity: true, claims: ['name', 'badge_id'] }])
    expect(await userinfo(f, 'openid profile')).toEqual({ sub: '7', name: 'Jane Doe', badge_id: 4711 })
    expect(f.provider.metadata.claims_supported).not.toContain('nickname')
  })

  test('5.15 can be disabled', async () => {
    const f = await withScopes([{ name: 'email', identity: true, enabled: false, claims: ['email'] }])
    const response = await request(f, 'openid email')
    expect([response.status, response.body.error]).toEqual([400, 'invalid_scope'])
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'scope_unknown' })
    expect(f.provider.metadata.scopes_supported).not.toContain('email')
  })

  test('5.15 returns nothing once it is disabled, even for a live token', async () => {
    const storage = mapDriver()
    const users: UserService = { authenticate: () => ({ sub: '7' }), claims: () => everything }
    const withEmail = (enabled: boolean) => {
      const email: ScopeOptions = { name: 'email', identity: true, enabled, claims: ['email'] }
      return fixture({ storage, users, scopes: [email, { name: 'api1' }, { name: 'api2' }] })
    }
    const before = await withEmail(true)
    const { access_token } = (await request(before, 'openid email')).body
    const send = (f: Fixture) => f.get('userinfo', {}, { authorization: `Bearer ${access_token}` })
    expect((await send(before)).body).toEqual({ sub: '7', email: 'jane@example.com' })
    expect((await send(await withEmail(false))).body).toEqual({ sub: '7' })
  })

  test('5.15 cannot become an API by mistake', async () => {
    await expect(withScopes([{ name: 'profile', claims: ['name'] }])).rejects.toThrow(
      /profile is an identity scope.*identity: true/u,
    )
    await expect(withScopes([{ name: 'openid' }])).rejects.toThrow(/openid is an identity scope/u)
  })

  test('5.15 can be defined only once', async () => {
    const twice: ScopeOptions = { name: 'profile', identity: true }
    await expect(withScopes([twice, twice])).rejects.toThrow(/two scopes have the name profile/u)
  })
})

describe('a user service', () => {
  test('5.15 without claims() only sub remains', async () => {
    const f = await fixture({ users: { authenticate: () => ({ sub: '7' }) } })
    for (const [, client] of formats) expect(await userinfo(f, 'openid profile email', client)).toEqual({ sub: '7' })
  })

  test('5.15 without claims() leaves access tokens without the claims of the scope', async () => {
    const f = await fixture({
      users: { authenticate: () => ({ sub: '7' }) },
      scopes: [{ name: 'api1', claims: ['role'] }, { name: 'api2' }],
    })
    const response = await request(f, 'api1')
    expect(response.status).toBe(200)
    const { body } = await f.post('accessTokenValidation', { token: response.body.access_token })
    expect(body).not.toHaveProperty('role')
    expect(body.sub).toBe('7')
  })

  test.each([
    ['a promise', async () => ({ name: 'Later' }), { sub: '7', name: 'Later' }],
    ['nothing', () => undefined, { sub: '7' }],
    ['null', () => null, { sub: '7' }],
    ['an empty object', () => ({}), { sub: '7' }],
    [
      'an object without a prototype',
      () => Object.assign(Object.create(null), { name: 'Bare' }),
      { sub: '7', name: 'Bare' },
    ],
  ])('5.15 may return %s', async (_, claims, expected) => {
    const f = await withScopes([], { claims: claims as unknown as NonNullable<UserService['claims']> })
    expect(await userinfo(f, 'openid profile')).toEqual(expected)
  })

  test('5.15 is not called if no claim is requested', async () => {
    let asked = 0
    const f = await withScopes([{ name: 'api9' }], {
      claims() {
        asked += 1
        return everything
      },
    })
    expect(await userinfo(f, 'openid api9')).toEqual({ sub: '7' })
    expect(asked).toBe(0)
  })
})

test.each(['exp', 'iss', 'client_id', 'scope', 'amr', 'cnf', 'active', '__proto__', 'grant_id'])(
  'rejects a scope that requests the protocol claim %s at start',
  async (claim) => {
    for (const identity of [true, false]) {
      const scopes = [{ name: 'odd', identity, claims: ['name', claim] }]
      await expect(fixture({ scopes, clients: [] })).rejects.toThrow(`scopes: odd has the claim ${claim}`)
    }
  },
)
