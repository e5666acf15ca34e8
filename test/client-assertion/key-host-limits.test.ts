import type { FetchKeys } from '@grantry/plugins/client-assertion'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { assertionType, claims, client, createKey, present, setUp, sign, tokenEndpoint } from './assertions.ts'

const jwksUri = 'https://service.example.com/jwks.json'
const first = await createKey('ES256', { kid: 'first' })

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** A host of keys whose responses the test decides. */
function slowHost() {
  const pending: ((response: Response) => void)[] = []
  const fetch: FetchKeys = () => new Promise((resolve) => pending.push(resolve))
  return {
    pending,
    fetch,
    respond(response = Response.json({ keys: [first.jwk] })) {
      for (const resolve of pending.splice(0)) resolve(response)
    },
  }
}

const remote = (fetch: FetchKeys, more: object = {}) =>
  setUp({ jwksUri: { fetch, ...more } }, [client({ jwks: undefined, jwksUri })])

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('requests that wait for keys', () => {
  test('are an eighth of maxWaiting for one URI; the others get 503 and can be repeated', async () => {
    const host = slowHost()
    const f = await remote(host.fetch, { maxWaiting: 16 })
    const send = async () => present(f, await sign(claims(), first.privateKey, { kid: 'first' }))
    const waiting = [send(), send()]
    await eventually(() => expect(host.pending).toHaveLength(1))
    await turn()
    const { status, headers, body } = await send()
    expect([status, headers.get('retry-after'), body.error]).toEqual([503, '1', 'temporarily_unavailable'])
    expect(f.events.at(-1)).toMatchObject({
      type: 'endpoint_failed',
      status: 503,
      reason: 'plugin:client-assertion:keys_busy',
    })
    host.respond()
    expect((await Promise.all(waiting)).map((response) => response.status)).toEqual([200, 200])
    expect((await send()).status).toBe(200)
  })

  test.each([7, 10_001, 8.5, '8'])('%s is no number for maxWaiting', (maxWaiting) => {
    expect(() => setUp({ jwksUri: { maxWaiting } } as never)).toThrow(/jwksUri.maxWaiting must be/u)
  })
})

describe('keys that become old', () => {
  const signedNow = (f: Awaited<ReturnType<typeof remote>>) =>
    sign({ ...claims(), iat: undefined, nbf: undefined, exp: f.clock.now() + 60 }, first.privateKey, { kid: 'first' })

  test('are fetched again before they expire, while requests use them without waiting', async () => {
    const host = slowHost()
    const f = await remote(host.fetch)
    const begun = signedNow(f).then((jwt) => present(f, jwt))
    await eventually(() => expect(host.pending).toHaveLength(1))
    host.respond()
    expect((await begun).status).toBe(200)
    f.clock.advance(449)
    expect((await present(f, await signedNow(f))).status).toBe(200)
    expect(host.pending).toHaveLength(0)
    f.clock.advance(1)
    expect((await present(f, await signedNow(f))).status).toBe(200)
    expect((await present(f, await signedNow(f))).status).toBe(200)
    expect(host.pending).toHaveLength(1)
    host.respond()
    await turn()
    f.clock.advance(449)
    expect((await present(f, await signedNow(f))).status).toBe(200)
    expect(host.pending).toHaveLength(0)
  })

  test('are not used after maxAge if they cannot be fetched', async () => {
    const host = slowHost()
    const f = await remote(host.fetch)
    const begun = signedNow(f).then((jwt) => present(f, jwt))
    await eventually(() => expect(host.pending).toHaveLength(1))
    host.respond()
    expect((await begun).status).toBe(200)
    f.clock.advance(580)
    expect((await present(f, await signedNow(f))).status).toBe(200)
    host.respond(new Response('', { status: 500 }))
    await turn()
    f.clock.advance(20)
    expect((await present(f, await signedNow(f))).status).toBe(401)
  })
})

test('a Worker sends requests with its own fetch, although it has modules of Node.js', async () => {
  vi.stubGlobal('WebSocketPair', class {})
  const request = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ keys: [first.jwk] }))
  const f = await setUp({}, [client({ jwks: undefined, jwksUri })])
  expect((await present(f, await sign(claims(), first.privateKey, { kid: 'first' }))).status).toBe(200)
  expect(request).toHaveBeenCalledExactlyOnceWith(jwksUri, expect.objectContaining({ redirect: 'manual' }))
})

// An outage of the key host is no guess at a key.
test('assertions of a client whose key host is down do not lock it out', async () => {
  let isDown = true
  const f = await remote(async () =>
    isDown ? Promise.reject(new Error('down')) : Response.json({ keys: [first.jwk] }),
  )
  const send = async () => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'api1',
      client_assertion_type: assertionType,
      client_assertion: await sign({ ...claims(), exp: f.clock.now() + 60 }, first.privateKey, { kid: 'first' }),
    })
    const request = new Request(tokenEndpoint, { method: 'POST', body })
    return (await f.provider.handlers.token(request, { clientAddress: '192.0.2.1' })).status
  }
  const refused = []
  for (let count = 0; count < 12; count += 1) refused.push(await send())
  expect(new Set(refused)).toEqual(new Set([401]))
  isDown = false
  f.clock.advance(30)
  expect(await send()).toBe(200)
})
