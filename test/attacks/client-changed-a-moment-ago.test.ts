/**
 * Attack: a secret has leaked, and an administrator rotates it and revokes the client. Another process still remembers the
 * client of before, for seconds. A thief who sends the old secret there gets a token that carries the new epoch, so it lives on;
 * also with a grant type, or at a redirect URI, that was removed.
 *
 * docs/decisions/0022: what was decided by the state before a revocation gives nothing after it. A change that takes something
 * away from a client is enough, without a revocation: what was issued before it stays.
 */
import { type Managers, openAdministration, storedEntries } from '@grantry/administration'
import { type AtomicDriver, type ClientOptions, hashSecret, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, builtInPlugins, clients, type Fixture, fixture, redirectUri } from '../support/fixture.ts'
import { inOneTrip, withLatency } from '../support/latency.ts'

const issuer = 'https://id.example.com'
const shop = ['shop', 'leaked'] as const
const client: ClientOptions = {
  ...clients[0],
  clientId: shop[0],
  secrets: [hashSecret(shop[1])],
  redirectUris: ['https://web.example.com/callback', 'https://former.example.com/callback'],
}
const scope = 'openid offline_access api1'
const ofAlice = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }

const stores: readonly (readonly [string, (driver: AtomicDriver) => AtomicDriver])[] = [
  ['a driver in memory', (driver) => driver],
  ['a slow driver', withLatency],
  ['a slow driver that reads in one trip', (driver) => withLatency(inOneTrip(driver))],
]

const accepted = async (): Promise<void> => {}

/** Two processes on one storage. The administrator is at `otherProcess`, whose clock is `behind` by seconds. */
async function processes(storage: AtomicDriver, behind = 0) {
  const entries = openEntries({ issuer, storage })
  const opened = () => ({ storage, plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 5 })] })
  const f = await fixture(opened())
  const otherProcess = await fixture({ ...opened(), runtime: { now: () => f.clock.now() - behind } })
  const { clients: manager } = openAdministration({
    entries,
    check: { client: accepted, scope: accepted, user: accepted },
    hashPassword: async () => '',
    revoke: otherProcess.provider.revoke,
    renewClient: otherProcess.provider.renewClient,
    now: () => f.clock.now() * 1000,
  }).as({ who: 'admin' })
  await manager.add(client)
  // Both remember it, and nothing is cached for this second.
  for (const process of [f, otherProcess]) expect((await process.post('token', ofAlice, shop)).status).toBe(200)
  f.clock.advance(1)
  return { f, otherProcess, manager }
}

/** Whether what a response has, if it has anything, is still of use. */
async function gives(f: Fixture, body: Readonly<Record<string, unknown>>): Promise<boolean> {
  const { access_token: token } = body
  if (typeof token !== 'string') return false
  return (await f.post('introspection', { token }, api1)).body.active === true
}

/** What ends the access of the thief. */
const changes: Readonly<Record<string, (clients: Managers['clients']) => Promise<unknown>>> = {
  'a rotation': (manager) => manager.rotateSecret(shop[0], 0),
  'an edit of the secrets': (manager) => manager.edit(shop[0], { secrets: [hashSecret('new')] }),
  'a key instead of a secret': (manager) =>
    manager.edit(shop[0], { secrets: [], tokenEndpointAuthMethod: 'private_key_jwt' }),
  'the client becomes public': (manager) => manager.edit(shop[0], { secrets: [], public: true }),
  'the grant types end': (manager) => manager.edit(shop[0], { grantTypes: [] }),
  'the client is removed': (manager) => manager.remove(shop[0]),
  'the scopes end': (manager) => manager.edit(shop[0], { scopes: [] }),
}

/** What the thief sends. */
const requests: Readonly<Record<string, (f: Fixture) => Promise<Record<string, string>>>> = {
  'client credentials': async () => ({ grant_type: 'client_credentials', scope: 'api1' }),
  'a password': async () => ofAlice,
}

describe.each(stores)('on %s', (name, storeOf) => {
  // Those of a slow driver take a second.
  const changed = name === 'a driver in memory' ? Object.keys(changes) : ['a rotation', 'the grant types end']
  const cases = changed.flatMap((change) => Object.keys(requests).map((request) => ({ change, request })))

  test.each(cases.flatMap((each) => [true, false].map((isRevoked) => ({ ...each, isRevoked }))))(
    'after $change, $request gives nothing in another process (revoked: $isRevoked)',
    async (each) => {
      const { change, request, isRevoked } = each
      const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()))
      await changes[change]?.(manager)
      if (isRevoked) await otherProcess.provider.revoke({ clientId: shop[0] })
      for (let second = 0; second < 3; second += 1) {
        const { body } = await f.post('token', (await requests[request]?.(f)) ?? {}, shop)
        expect([body.access_token, await gives(f, body)]).toEqual([undefined, false])
        f.clock.advance(1)
      }
    },
  )

  test.each([0, 60])(
    'a rotation counts in the second in which another process has given the client a token: overlap %i s',
    async (overlap) => {
      const { f, manager } = await processes(storeOf(memoryDriver()))
      const form = { grant_type: 'client_credentials', scope: 'api1' }
      expect((await f.post('token', form, shop)).status).toBe(200)
      const { secret } = await manager.rotateSecret(shop[0], overlap)
      const stolen = await f.post('token', form, shop)
      expect(stolen.status).toBe(overlap === 0 ? 401 : 200)
      const first = await f.post('token', form, [shop[0], secret])
      expect([first.status, await gives(f, first.body)]).toEqual([200, true])
    },
  )

  test.each([true, false])(
    'a refresh token that was issued after the rotation is of no use with the old secret (revoked: %s)',
    async (isRevoked) => {
      const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()))
      const { secret } = await manager.rotateSecret(shop[0], 0)
      if (isRevoked) await otherProcess.provider.revoke({ clientId: shop[0] })
      const { body } = await otherProcess.post('token', ofAlice, [shop[0], secret])
      const form = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
      const stolen = await f.post('token', form, shop)
      expect([stolen.status, stolen.body.access_token]).toEqual([401, undefined])
      expect((await f.post('token', form, [shop[0], secret])).status).toBe(200)
    },
  )

  test.each(['in the second in which a process has read it', 'by a clock that is behind'])(
    'a rotation %s leaves the old secret no token',
    async (when) => {
      const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()), when.includes('clock') ? 1800 : 0)
      f.clock.advance(60)
      expect((await f.post('token', ofAlice, shop)).status).toBe(200)
      await manager.rotateSecret(shop[0], 0)
      await otherProcess.provider.revoke({ clientId: shop[0] })
      const { body } = await f.post('token', ofAlice, shop)
      expect([body.access_token, await gives(f, body)]).toEqual([undefined, false])
    },
  )

  test('a refresh token of hours before, and a code, stay after a rotation, and are of no use with the old secret', async () => {
    const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()))
    const { body } = await f.post('token', ofAlice, shop)
    f.clock.advance(3 * 3600)
    const code = await f.code({ clientId: shop[0] })
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    const { secret } = await manager.rotateSecret(shop[0], 0)
    for (const form of [redeem, refresh]) expect((await f.post('token', form, shop)).status).toBe(401)
    const right = [shop[0], secret] as const
    let next = refresh.refresh_token
    for (const process of [f, otherProcess, f]) {
      const renewed = await process.post('token', { ...refresh, refresh_token: next }, right)
      expect(renewed.status).toBe(200)
      next = String(renewed.body.refresh_token ?? next)
    }
    expect((await f.post('token', { ...refresh, refresh_token: next }, shop)).status).toBe(401)
    expect((await f.post('token', redeem, right)).status).toBe(200)
  })

  test.each(['with an overlap', 'that adds only'])(
    'a change %s disturbs no request of another process',
    async (kind) => {
      const { f, manager } = await processes(storeOf(memoryDriver()))
      if (kind === 'with an overlap') await manager.rotateSecret(shop[0], 60)
      else await manager.edit(shop[0], { scopes: [...(client.scopes ?? []), 'api2'], clientName: 'Shop' })
      const statuses = [await f.post('token', ofAlice, shop), await f.post('token', ofAlice, shop)]
      expect(statuses.map(({ status }) => status)).toEqual([200, 200])
    },
  )

  test.each([true, false])('a removed redirect URI gets no code (revoked: %s)', async (isRevoked) => {
    const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()))
    const redirectUri = 'https://former.example.com/callback'
    await f.code({ clientId: shop[0], redirectUri })
    await manager.edit(shop[0], { redirectUris: ['https://web.example.com/callback'] })
    if (isRevoked) await otherProcess.provider.revoke({ clientId: shop[0] })
    await expect(f.code({ clientId: shop[0], redirectUri })).rejects.toThrow()
  })

  test('a new secret works immediately, and an earlier one until its end', async () => {
    const { f, otherProcess, manager } = await processes(storeOf(memoryDriver()))
    const { secret } = await manager.rotateSecret(shop[0], 60)
    await otherProcess.provider.revoke({ clientId: shop[0] })
    const ask = async (process: Fixture, credentials: readonly [string, string]) =>
      gives(
        process,
        (await process.post('token', { grant_type: 'client_credentials', scope: 'api1' }, credentials)).body,
      )
    expect(await ask(f, [shop[0], secret])).toBe(true)
    // What this process remembers has another end of the secret: the request is refused, and the next one is not.
    expect([await ask(otherProcess, shop), await ask(otherProcess, shop)]).toEqual([false, true])
    // A client that is the same is not disturbed.
    await otherProcess.provider.revoke({ clientId: shop[0] })
    f.clock.advance(1)
    for (const process of [f, otherProcess]) expect(await ask(process, shop)).toBe(true)
  })
})
