import { describe, expect, test } from 'vitest'
import { issuer, metadata, setUp } from './parties.ts'

const inspector = 'http://localhost:6274'
const browserClient = { redirect_uris: [`${inspector}/oauth/callback`] }

/** A provider, and whether its token endpoint accepts requests of an origin. */
async function withPreflight() {
  const f = await setUp({ unusedLifetime: 7200 })
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
