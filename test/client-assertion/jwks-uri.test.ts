import type { FetchKeys } from '@grantry/plugins/client-assertion'
import { describe, expect, test, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { claims, client, createKey, key, outcomeOf, setUp, sign } from './assertions.ts'

const jwksUri = 'https://service.example.com/jwks.json'
const first = await createKey('ES256', { kid: 'first' })
const second = await createKey('ES256', { kid: 'second' })

const unnamed = await createKey()

const ok = [200, undefined]
const unavailable = [401, 'keys_unavailable']

/** A host that publishes keys, and counts the requests. */
function host(respond: (request: RequestInit) => Response | Promise<Response>) {
  const requests: { readonly url: string; readonly init: RequestInit }[] = []
  const fetch: FetchKeys = async (url, init) => {
    requests.push({ url, init })
    return respond(init)
  }
  return { requests, fetch }
}

const publishing = (...keys: readonly unknown[]) => host(() => Response.json({ keys }))

const remote = (fetch: FetchKeys, more: object = {}) =>
  setUp({ jwksUri: { fetch, ...more } }, [client({ jwks: undefined, jwksUri })])

const by = ({ privateKey, jwk: { kid } }: typeof first) => sign(claims(), privateKey, kid === undefined ? {} : { kid })

describe('keys at jwksUri', () => {
  test('are fetched once, without following redirects', async () => {
    const { requests, fetch } = publishing(first.jwk)
    const f = await remote(fetch)
    for (let i = 0; i < 3; i += 1) expect(await outcomeOf(f, await by(first))).toEqual(ok)
    expect(requests).toHaveLength(1)
    expect(requests[0]?.url).toBe(jwksUri)
    expect(requests[0]?.init.redirect).toBe('manual')
    expect(requests[0]?.init.signal).toBeInstanceOf(AbortSignal)
  })

  test('are fetched once for concurrent requests', async () => {
    const { requests, fetch } = publishing(first.jwk)
    const f = await remote(fetch)
    const jwts = await Promise.all(Array.from({ length: 20 }, () => by(first)))
    const outcomes = await Promise.all(jwts.map((jwt) => outcomeOf(f, jwt)))
    expect(outcomes.filter(([status]) => status === 200)).toHaveLength(20)
    expect(requests).toHaveLength(1)
  })

  test('are fetched again after maxAge, so that a removed key is no longer accepted', async () => {
    const keys: object[] = [first.jwk]
    const { requests, fetch } = host(() => Response.json({ keys }))
    const f = await remote(fetch)
    expect(await outcomeOf(f, await by(first))).toEqual(ok)
    keys[0] = second.jwk
    f.clock.advance(599)
    const later = async (signer: typeof first) =>
      sign({ ...claims(), iat: undefined, nbf: undefined, exp: f.clock.now() + 60 }, signer.privateKey, {
        kid: String(signer.jwk.kid),
      })
    expect(await outcomeOf(f, await later(first))).toEqual(ok)
    f.clock.advance(1)
    expect(await outcomeOf(f, await later(first))).toEqual([401, 'key_unknown'])
    expect(await outcomeOf(f, await later(second))).toEqual(ok)
    // For their age, and for the key that is unknown since.
    expect(requests).toHaveLength(3)
  })

  test.each([
    ['an unknown id', second],
    ['no id', unnamed],
  ])('are fetched again for a new key with %s, at most once in the cooldown', async (_, added) => {
    const keys: object[] = [{ ...first.jwk, kid: added.jwk.kid === undefined ? undefined : 'first' }]
    const { requests, fetch } = host(() => Response.json({ keys }))
    const f = await remote(fetch)
    const known = { ...first, jwk: keys[0] as typeof first.jwk }
    expect(await outcomeOf(f, await by(known))).toEqual(ok)
    keys.push(added.jwk)
    // In the cooldown after the first request.
    expect((await outcomeOf(f, await by(added)))[0]).toBe(401)
    expect(requests).toHaveLength(1)
    f.clock.advance(30)
    expect(await outcomeOf(f, await by(added))).toEqual(ok)
    for (let i = 0; i < 5; i += 1) {
      const kid = added.jwk.kid === undefined ? {} : { kid: `guess-${i}` }
      expect((await outcomeOf(f, await sign(claims(), key.privateKey, kid)))[0]).toBe(401)
    }
    expect(requests).toHaveLength(2)
  })

  test('are fetched again after a maxAge that is shorter than the cooldown', async () => {
    const { requests, fetch } = publishing(first.jwk)
    const f = await remote(fetch, { maxAge: 5, cooldown: 60 })
    expect(await outcomeOf(f, await by(first))).toEqual(ok)
    f.clock.advance(5)
    expect(await outcomeOf(f, await by(first))).toEqual(ok)
    expect(requests).toHaveLength(2)
  })

  test('are fetched with the fetch of the platform if private addresses are allowed', async () => {
    const request = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ keys: [first.jwk] }))
    try {
      const f = await setUp({ jwksUri: { allowPrivateAddresses: true } }, [client({ jwks: undefined, jwksUri })])
      expect(await outcomeOf(f, await by(first))).toEqual(ok)
      expect(request).toHaveBeenCalledExactlyOnceWith(jwksUri, expect.objectContaining({ redirect: 'manual' }))
    } finally {
      request.mockRestore()
    }
  })

  test('that cannot be used are ignored', async () => {
    const odd = [null, 'x', { kty: 'oct', k: 'x' }, { ...second.jwk, d: 'x' }, { kty: 'RSA', n: 'AQAB', e: 'AQAB' }]
    const f = await remote(publishing(...odd, first.jwk).fetch)
    expect(await outcomeOf(f, await by(first))).toEqual(ok)
    expect(await outcomeOf(f, await by(second))).toEqual([401, 'key_unknown'])
  })

  test('that have an impossible value are rejected as unusable', async () => {
    const f = await remote(publishing({ ...first.jwk, x: 'AA' }).fetch)
    expect(await outcomeOf(f, await by(first))).toEqual([401, 'key_unusable'])
  })

  test.each<[string, () => Response | Promise<Response>]>([
    ['404', () => new Response('', { status: 404 })],
    ['keys in an error', () => Response.json({ keys: [first.jwk] }, { status: 500 })],
    ['keys in another success', () => Response.json({ keys: [first.jwk] }, { status: 203 })],
    ['a redirect', () => Response.redirect('https://169.254.169.254/keys', 302)],
    ['a text', () => new Response('no keys')],
    ['another object', () => Response.json({ key: first.jwk })],
    ['too many keys', () => Response.json({ keys: Array.from({ length: 51 }, () => first.jwk) })],
    ['a failure', () => Promise.reject(new TypeError('fetch failed'))],
    ['a body that is too long', () => new Response(JSON.stringify({ keys: [first.jwk], x: 'x'.repeat(65_536) }))],
    ['an empty body', () => new Response(null)],
  ])('are unavailable if the host responds with %s', async (_, respond) => {
    const { requests, fetch } = host(respond)
    const f = await remote(fetch)
    expect(await outcomeOf(f, await by(first))).toEqual(unavailable)
    // Does not ask again within the cooldown.
    expect(await outcomeOf(f, await by(first))).toEqual(unavailable)
    expect(requests).toHaveLength(1)
    f.clock.advance(30)
    expect(await outcomeOf(f, await by(first))).toEqual(unavailable)
    expect(requests).toHaveLength(2)
  })

  test('are unavailable if the host does not respond within the timeout', async () => {
    const { fetch } = host(
      ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true })),
    )
    expect(await outcomeOf(await remote(fetch, { timeout: 0.1 }), await by(first))).toEqual(unavailable)
  })

  test('are fetched again after a request that has neither ended nor failed within the timeout', async () => {
    const { requests, fetch } = host(() =>
      requests.length === 1 ? new Promise(() => {}) : Response.json({ keys: [first.jwk] }),
    )
    const f = await remote(fetch)
    void outcomeOf(f, await by(first))
    await eventually(() => expect(requests).toHaveLength(1))
    f.clock.advance(6)
    expect(await outcomeOf(f, await by(first))).toEqual(ok)
  })

  test('are not read beyond maxSize', async () => {
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024
        controller.enqueue(new Uint8Array(1024))
      },
    })
    const f = await remote(host(() => new Response(endless)).fetch, { maxSize: 4096 })
    expect(await outcomeOf(f, await by(first))).toEqual(unavailable)
    expect(sent).toBeLessThan(16_384)
  })

  test('are not fetched for an unknown client, or an algorithm that is not allowed', async () => {
    const { requests, fetch } = publishing(first.jwk)
    const f = await remote(fetch)
    await outcomeOf(f, await sign(claims('absent'), first.privateKey))
    await outcomeOf(f, await sign(claims(), new Uint8Array(32), { alg: 'HS256' }))
    expect(requests).toEqual([])
  })
})

describe('a jwksUri', () => {
  const addresses = [
    'https://127.0.0.1/jwks',
    'https://0x7f.1/jwks',
    'https://2130706433/jwks',
    'https://10.0.0.8/jwks',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/jwks',
    'https://[::ffff:10.0.0.8]/jwks',
  ]
  const names = [
    'https://localhost/jwks',
    'https://localhost./jwks',
    'https://a.localhost/jwks',
    'https://intranet/jwks',
    'https://keys.internal/jwks',
    'https://printer.local/jwks',
    'https://localhost.localdomain/jwks',
    'https://localhost6.localdomain6/jwks',
    'https://keys.corp/jwks',
    'https://router.lan/jwks',
  ]
  const start = (uri: string, allowPrivateAddresses: boolean) =>
    setUp({ jwksUri: { allowPrivateAddresses } }, [client({ jwks: undefined, jwksUri: uri })])

  test.each([...addresses, ...names])('%s is rejected, unless private addresses are allowed', async (uri) => {
    const why = addresses.includes(uri) ? 'an IP address' : 'a local or reserved one'
    const message = `clients[0] ("service"): jwksUri must have the name of a public host, not ${why}`
    await expect(start(uri, false)).rejects.toMatchObject({ message })
    await expect(start(uri, true)).resolves.toBeDefined()
  })

  test.each([
    ['http://service.example.com/jwks', 'must use https'],
    ['file:///etc/passwd', 'must use https'],
    ['https://user@service.example.com/jwks', 'must not contain a user or a fragment'],
    ['https://service.example.com/jwks#x', 'must not contain a user or a fragment'],
    ['jwks.json', 'must be a URL'],
  ])('%s is always rejected', async (uri, message) => {
    for (const allowed of [true, false]) await expect(start(uri, allowed)).rejects.toThrow(`jwksUri ${message}`)
  })
})
