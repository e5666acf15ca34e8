import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document, issuer, setUp } from './parties.ts'

const origin = 'https://app.example.com'

describe('a client in a browser', () => {
  test('is allowed preflights from its first request, for its own origin only, and for a day', async () => {
    const f = await setUp()
    const accepts = async (from: string): Promise<boolean> => {
      const headers = {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'dpop',
      }
      const preflight = new Request(`${issuer}/connect/token`, { method: 'OPTIONS', headers })
      return (await f.provider.fetch(preflight)).headers.get('access-control-allow-origin') === from
    }
    expect(await accepts(origin)).toBe(false)
    await f.authorize()
    expect([await accepts(origin), await accepts('https://evil.example')]).toEqual([true, false])
    f.clock.advance(86_401)
    expect(await accepts(origin)).toBe(false)
  })

  test('cannot have more than eight origins', async () => {
    const redirectUris = Array.from({ length: 20 }, (_, index) => `https://app${index}.example.com/callback`)
    const hosts = createHosts({
      [clientId]: { body: { ...document, redirect_uris: [...document.redirect_uris, ...redirectUris] } },
    })
    const f = await setUp(hosts)
    await f.authorize()
    const answers = redirectUris.map(async (uri) => {
      const headers = { origin: new URL(uri).origin, 'access-control-request-method': 'POST' }
      const preflight = new Request(`${issuer}/connect/token`, { method: 'OPTIONS', headers })
      return (await f.provider.fetch(preflight)).headers.has('access-control-allow-origin')
    })
    expect((await Promise.all(answers)).filter(Boolean)).toHaveLength(7)
  })
})
