import { registrations } from '@grantry/plugins/registration'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver } from '@grantry/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { issuer, metadata, setUp } from './parties.ts'

const day = 86_400

describe('a client ends', () => {
  test('17.10 an hour after its registration, unless it gets a token', async () => {
    const f = await setUp()
    const [unused, used] = [await f.registered(), await f.registered()]
    expect((await f.signIn(used)).status).toBe(200)
    // Naming it is no use of it.
    f.clock.advance(3599)
    expect((await f.authorize(unused)).code).not.toBe('')
    f.clock.advance(1)
    const page = await f.authorize(unused)
    expect([page.code, page.html]).toEqual(['', expect.stringContaining('plugin:registration:client_ended')])
    const refused = await f.post('token', {
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_id: unused.client_id,
    })
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
    expect((await f.signIn(used)).status).toBe(200)
  })

  test('17.10 when it has got no token for 90 days, and its tokens end with it', async () => {
    const f = await setUp({ unusedLifetime: 20 * day })
    const client = await f.registered()
    let { body } = await f.signIn(client)
    for (let count = 0; count < 4; count += 1) {
      f.clock.advance(10 * day)
      expect((await f.signIn(client)).status).toBe(200)
    }
    ;({ body } = await f.signIn(client))
    f.clock.advance(14 * day)
    expect((await f.refresh(client, body.refresh_token)).status).toBe(200)
    f.clock.advance(20 * day)
    expect((await f.authorize(client)).code).toBe('')
    expect((await f.refresh(client, body.refresh_token)).body).toMatchObject({ error: 'invalid_client' })
    expect(await f.provider.use(registrations).find(client.client_id)).toBeUndefined()
  })

  test('although it changes its registration: only a token is a use', async () => {
    const f = await setUp()
    const client = await f.registered()
    f.clock.advance(3000)
    const body = { client_id: client.client_id, redirect_uris: client.redirect_uris }
    const changed = await f.send(client.registration_client_uri, {
      method: 'PUT',
      token: client.registration_access_token,
      body,
    })
    expect(changed.status).toBe(200)
    f.clock.advance(600)
    expect((await f.authorize(client)).code).toBe('')
  })
})

test('tokens of a client that is in use write its record once in a tenth of its lifetime', async () => {
  const items = new Map<string, string>()
  const driver = mapDriver(items)
  const written: string[] = []
  const storage = {
    ...driver,
    setItem: (key: string, value: string, options: { ttl: number }) => {
      written.push(key)
      return driver.setItem(key, value, options)
    },
  }
  const f = await setUp({ unusedLifetime: 100 * day }, { storage })
  const client = await f.registered()
  const ofPlugin = () => written.filter((key) => key.startsWith('plugin:')).length
  for (let count = 0; count < 5; count += 1) await f.signIn(client)
  // The record, and the origin of its redirect URI. Lists are replaced, not written.
  expect(ofPlugin()).toBe(2)
  f.clock.advance(9 * day)
  await f.signIn(client)
  expect(ofPlugin()).toBe(2)
  f.clock.advance(2 * day)
  await f.signIn(client)
  expect(ofPlugin()).toBe(4)
})

describe('2,000 clients that are never used', () => {
  afterEach(() => void vi.useRealTimers())

  test('leave the storage empty after an hour', async () => {
    const storage = memoryDriver()
    const f = await setUp({ maxPerAddress: 1_000_000, maxTotal: 1_000_000 }, { storage })
    vi.useFakeTimers({ toFake: ['Date'] })
    const atStart = new Set(storage.getKeys())
    const kept = () => storage.getKeys().filter((key) => !atStart.has(key))
    for (let count = 0; count < 2000; count += 1) expect((await f.register()).status).toBe(201)
    // The clients, the origin of their redirect URIs with its list of clients, and the counts of their site and of all.
    expect(kept()).toHaveLength(2004)
    f.clock.advance(3601)
    vi.setSystemTime(Date.now() + 3_601_000)
    const used = await f.registered()
    expect((await f.signIn(used)).status).toBe(200)
    vi.setSystemTime(Date.now() + 3_660_000)
    f.clock.advance(3660)
    // The client that is used, its origin, and what its sign-in has left.
    expect(kept().length).toBeLessThan(12)
    expect(await f.send(`${issuer}/connect/register`, { body: metadata })).toMatchObject({ status: 201 })
  })
})
