// The attacker controls or blocks the host of a provider. It does not respond, sends without end, or sends something else:
// the sign-ins of others must go on, and this process must not wait, or read, without limits.
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { setUpUpstream } from '../upstream/parties.ts'

const never = (): Promise<Response> => new Promise(() => {})

describe('a provider that does not respond', () => {
  test('18.11 costs each user the time limit, and leads back to the page of the sign-in', async () => {
    const f = await setUpUpstream({ double: { intercept: never }, options: { timeout: 0.2 } })
    const { upstreamPage } = await f.leave()
    expect(nameOf(upstreamPage)).toBe('signIn')
    expect(upstreamPage.html).toContain('provider_failed')
    expect(f.failures()).toEqual(['metadata_too_slow'])
  })

  test('18.11 is asked once for all users that wait, and again after seconds', async () => {
    const f = await setUpUpstream({ double: { intercept: never }, options: { timeout: 0.2 } })
    await Promise.all(Array.from({ length: 20 }, () => f.leave()))
    expect(f.double.requests).toHaveLength(1)
    await f.leave()
    expect(f.double.requests).toHaveLength(1)
    f.skip(6)
    f.double.set({ intercept: () => undefined })
    expect((await f.leave()).request.origin).toBe(f.double.issuer)
  })

  test('18.11 is asked once for 50 users at the same time', async () => {
    const f = await setUpUpstream()
    const all = await Promise.all(Array.from({ length: 50 }, () => f.leave()))
    expect(new Set(all.map(({ request }) => request.origin))).toEqual(new Set([f.double.issuer]))
    expect(f.double.countOf('/.well-known/openid-configuration')).toBe(1)
  })

  test('18.11 has few places for its token endpoint: further users are asked to try again', async () => {
    const f = await setUpUpstream({ options: { timeout: 0.3, maxRequests: 2 } })
    const waiting = await Promise.all(Array.from({ length: 4 }, () => f.leave()))
    f.double.set({ intercept: ({ pathname }) => (pathname === '/token' ? never() : undefined) })
    const pages = await Promise.all(waiting.map((visit) => f.comeBack(visit)))
    expect(pages.map(nameOf)).toEqual(['signIn', 'signIn', 'signIn', 'signIn'])
    expect(f.failures().sort()).toEqual(['busy', 'busy', 'too_slow', 'too_slow'])
  })

  test('18.11 is not needed while its metadata is known', async () => {
    const f = await setUpUpstream()
    await f.leave()
    f.skip(4000)
    f.double.set({
      claims: { exp: 4_000_000_000 },
      intercept: ({ pathname }) => (pathname.includes('.well-known') ? new Response('', { status: 503 }) : undefined),
    })
    expect(nameOf(await f.comeBack(await f.leave()))).toBe('consent')
  })
})

describe('a response of a provider', () => {
  const large = (): Response =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(65_536).fill(0x20))
        },
      }),
      { headers: { 'content-type': 'application/json' } },
    )
  const sent: Readonly<Record<string, () => Response>> = {
    'without an end': large,
    'that is no JSON': () => new Response('<html>', { headers: { 'content-type': 'application/json' } }),
    'with another type': () => new Response('{}', { headers: { 'content-type': 'text/html' } }),
    'that redirects to another host': () =>
      new Response(null, { status: 302, headers: { location: 'https://evil.example.com/' } }),
    'of another issuer': () =>
      new Response('{"issuer":"https://evil.example.com"}', { headers: { 'content-type': 'application/json' } }),
  }

  test.each(Object.entries(sent))(
    '18.11 %s ends the sign-in, as metadata, keys and tokens',
    async (_name, response) => {
      for (const path of ['/.well-known/openid-configuration', '/keys', '/token']) {
        const f = await setUpUpstream({
          double: { intercept: ({ pathname }) => (pathname === path ? response() : undefined) },
        })
        const away = await f.leave()
        const page = away.request.origin === f.double.issuer ? await f.comeBack(away) : away.upstreamPage
        expect(page.html).toContain('provider_failed')
        expect(f.double.requests.every(({ url }) => url.startsWith(f.double.issuer))).toBe(true)
      }
    },
  )

  test('is never read from an address that is not public: its issuer is refused at start', async () => {
    const issuer = 'https://10.0.0.1'
    await expect(setUpUpstream({ provider: { issuer } })).rejects.toThrow(/issuer must have the name of a public host/u)
  })
})
