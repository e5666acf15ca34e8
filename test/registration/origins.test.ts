import { registrations } from '@grantry/plugins/registration'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { issuer, metadata, type Registered, setUp } from './parties.ts'

const inspector = 'http://localhost:6274'
const browserClient = { redirect_uris: [`${inspector}/oauth/callback`] }

/** A provider, and whether its token endpoint accepts requests of an origin. */
async function withPreflight(more: Parameters<typeof setUp>[1] = {}) {
  const f = await setUp({ unusedLifetime: 7200 }, more)
  const accepts = async (origin: string): Promise<boolean> => {
    const headers = { origin, 'access-control-request-method': 'POST' }
    const { headers: sent } = await f.provider.fetch(
      new Request(`${issuer}/connect/token`, { method: 'OPTIONS', headers }),
    )
    return sent.get('access-control-allow-origin') === origin
  }
  return { ...f, accepts }
}

describe('a client in a browser: the token endpoint accepts the origin of its redirect URI', () => {
  test('from its registration', async () => {
    const f = await withPreflight()
    expect(await f.accepts(inspector)).toBe(false)
    await f.registered(browserClient)
    expect(await f.accepts(inspector)).toBe(true)
  })

  test('for as long as the client lasts, also if another one with the origin ends before', async () => {
    const f = await withPreflight()
    await f.registered(browserClient)
    f.clock.advance(3599)
    await f.registered(browserClient)
    f.clock.advance(3599)
    expect(await f.accepts(inspector)).toBe(true)
  })

  test('for as long as a client that is used lasts, also if others register and change', async () => {
    const f = await withPreflight()
    const used = await f.registered({ redirect_uris: [...metadata.redirect_uris, ...browserClient.redirect_uris] })
    expect((await f.signIn(used)).status).toBe(200)
    const {
      client_id: id,
      registration_client_uri: url,
      registration_access_token: token,
    } = await f.registered(browserClient)
    const body = { ...metadata, ...browserClient, client_id: id, client_name: 'Another name' }
    expect((await f.send(url, { method: 'PUT', token, body })).status).toBe(200)
    f.clock.advance(7199)
    expect(await f.accepts(inspector)).toBe(true)
  })

  test('after a change', async () => {
    const f = await withPreflight()
    const client = await f.registered()
    expect((await f.signIn(client)).status).toBe(200)
    const { client_id: id, registration_client_uri: url, registration_access_token: token } = client
    const body = { ...metadata, ...browserClient, client_id: id }
    expect((await f.send(url, { method: 'PUT', token, body })).status).toBe(200)
    expect(await f.accepts(inspector)).toBe(true)
  })
})

describe('the origin of a client that is gone', () => {
  const remove = (f: Awaited<ReturnType<typeof withPreflight>>, client: Registered) =>
    f.send(client.registration_client_uri, { method: 'DELETE', token: client.registration_access_token })

  test('is accepted no longer, by its own call and by an operator', async () => {
    const f = await withPreflight()
    const client = await f.registered(browserClient)
    expect((await f.signIn(client, { redirect_uri: browserClient.redirect_uris[0] ?? '' })).status).toBe(200)
    expect((await remove(f, client)).status).toBe(204)
    expect(await f.accepts(inspector)).toBe(false)
    const second = await f.registered(browserClient)
    expect(await f.accepts(inspector)).toBe(true)
    expect(await f.provider.use(registrations).remove(second.client_id)).toBe(true)
    expect(await f.accepts(inspector)).toBe(false)
  })

  test('is accepted no longer after a change without it', async () => {
    const f = await withPreflight()
    const client = await f.registered(browserClient)
    const { client_id: id, registration_client_uri: url, registration_access_token: token } = client
    expect((await f.send(url, { method: 'PUT', token, body: { ...metadata, client_id: id } })).status).toBe(200)
    expect(await f.accepts(inspector)).toBe(false)
    expect(await f.accepts('https://app.example.com')).toBe(true)
  })

  test.each([1, 2, 7, 8, 20])('stays for %i others, in whatever order they end', async (count) => {
    const f = await withPreflight()
    const others: Registered[] = []
    for (let at = 0; at < count; at += 1) others.push(await f.registered(browserClient))
    const client = await f.registered(browserClient)
    await remove(f, client)
    expect(await f.accepts(inspector)).toBe(true)
    for (const client of others.slice(1)) await remove(f, client)
    expect(await f.accepts(inspector)).toBe(true)
  })

  test('stays for a ninth client, which no list has, when the eight before it are removed', async () => {
    const f = await withPreflight()
    const first: Registered[] = []
    for (let at = 0; at < 8; at += 1) first.push(await f.registered(browserClient))
    await f.registered(browserClient)
    for (const client of first) await remove(f, client)
    expect(await f.accepts(inspector)).toBe(true)
  })

  test('stays for a client that registers while the last other one is removed', async () => {
    for (let round = 0; round < 20; round += 1) {
      const f = await withPreflight({ storage: withLatency(memoryDriver()) })
      const client = await f.registered(browserClient)
      await Promise.all([remove(f, client), f.registered(browserClient)])
      expect(await f.accepts(inspector)).toBe(true)
    }
  })

  test('is accepted for the first 16 origins of a client', async () => {
    const f = await withPreflight()
    const uris = Array.from({ length: 50 }, (_, at) => `https://a${at}.example.com/cb`)
    await f.registered({ redirect_uris: uris })
    expect([await f.accepts('https://a15.example.com'), await f.accepts('https://a16.example.com')]).toEqual([
      true,
      false,
    ])
  })
})
