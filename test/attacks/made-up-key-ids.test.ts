// The attacker sends tokens with made-up ids of keys, so that the provider, or an API, fetches the keys of another host for
// each of them; or so that it fetches none when the owner of the keys has just published another one.
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as assertions from '../client-assertion/assertions.ts'
import * as bearer from '../jwt-bearer/bearer-parties.ts'
import * as api from '../resource-server/issuer.ts'
import { createIssuerKey, type IssuerKey } from '../support/trusted-issuer.ts'
import { setUpUpstream } from '../upstream/parties.ts'

afterEach(() => {
  vi.useRealTimers()
})

const kids = ['first', 'second', 'third'] as const
const keys = Object.fromEntries(
  await Promise.all(kids.map(async (kid) => [kid, await createIssuerKey(kid, 'RS256')] as const)),
) as Record<(typeof kids)[number], IssuerKey>

/** A place that verifies signatures with the keys that another party publishes. */
interface Place {
  /** Whether a token with this key is accepted. Its header can name another id. */
  accepts(key: IssuerKey, kid?: string): Promise<boolean>
  publish(...published: readonly IssuerKey[]): void
  advance(seconds: number): void
  fetches(): number
}

/** Keys in memory at a URL. */
function host() {
  let published: readonly IssuerKey[] = [keys.first]
  let count = 0
  const fetch = async () => {
    count += 1
    return Response.json({ keys: published.map(({ jwk }) => jwk) })
  }
  const publish: Place['publish'] = (...next) => {
    published = next
  }
  return { fetch, publish, fetches: () => count }
}

const headerOf = (kid: string | undefined) => ({ alg: 'RS256', ...(kid !== undefined && { kid }) })

async function assertionPlace(): Promise<Place> {
  const { fetch, ...rest } = host()
  const jwksUri = 'https://service.example.com/jwks.json'
  const f = await assertions.setUp({ jwksUri: { fetch } }, [assertions.client({ jwks: undefined, jwksUri })])
  return {
    ...rest,
    advance: (seconds) => f.clock.advance(seconds),
    async accepts(key, kid) {
      const time = f.clock.now()
      const claims = { ...assertions.claims(), iat: time, nbf: time, exp: time + 60 }
      return (await assertions.outcomeOf(f, await key.sign(claims, headerOf(kid))))[0] === 200
    },
  }
}

async function bearerPlace(): Promise<Place> {
  const { fetch, ...rest } = host()
  let { now } = bearer
  const jwksUri = 'https://jwt-idp.example.com/keys'
  const f = await bearer.setUp({ jwks: undefined, jwksUri }, { jwksUri: { fetch } })
  return {
    ...rest,
    advance(seconds) {
      now += seconds
      f.at(now)
    },
    accepts: async (key, kid) =>
      (await bearer.outcomeOf(f, await key.sign(bearer.example, headerOf(kid)))) === 'accepted',
  }
}

async function resourcePlace(): Promise<Place> {
  const { fetch, ...rest } = host()
  const { test: t, api: server } = await api.createApi()
  t.responses.set(api.jwksUri, fetch)
  return {
    ...rest,
    advance(seconds) {
      t.now += seconds
    },
    async accepts(key, kid) {
      const claims = { iss: api.issuer, aud: api.audience, sub: 'alice', iat: t.now, exp: t.now + 300 }
      const more = { client_id: 'web', jti: crypto.randomUUID() }
      const token = await key.sign({ ...claims, ...more }, { ...headerOf(kid), typ: 'at+jwt' })
      return (await server.authorize(api.bearing(token))).token !== undefined
    },
  }
}

/** @param isLogout whether the tokens are logout tokens, which every caller can send */
async function upstreamPlace(isLogout: boolean): Promise<Place> {
  // The library reads the clock of the machine: no second passes by itself.
  vi.useFakeTimers({ toFake: ['Date'] })
  const { fetch, ...rest } = host()
  const f = await setUpUpstream({
    double: { intercept: ({ pathname }) => (pathname.endsWith('/keys') ? fetch() : undefined) },
  })
  let skipped = 0
  const stamped = (claims: Readonly<Record<string, unknown>>) => {
    const now = Math.floor(Date.now() / 1000) + skipped
    return { iss: f.double.issuer, aud: f.double.clientId, ...claims, iat: now, exp: now + 300 }
  }
  async function logout(key: IssuerKey, kid: string | undefined): Promise<boolean> {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const claims = stamped({ sub: 'another-user', jti: crypto.randomUUID(), events })
    const token = await key.sign(claims, { ...headerOf(kid), typ: 'logout+jwt' })
    const init = { method: 'POST', body: new URLSearchParams({ logout_token: token }) }
    const request = new Request('https://id.example.com/connect/upstream/acme/logout', init)
    return (await f.provider.fetch(request, { clientAddress: '192.0.2.9' })).status === 200
  }
  return {
    ...rest,
    advance(seconds) {
      skipped += seconds
      f.skip(seconds)
    },
    async accepts(key, kid) {
      if (isLogout) return logout(key, kid)
      f.double.set({ signToken: (claims) => key.sign(claims, headerOf(kid)) })
      const before = f.events.filter(({ type }) => type === 'session_started').length
      await f.comeBack(await f.leave())
      return f.events.filter(({ type }) => type === 'session_started').length > before
    },
  }
}

describe.each<[string, () => Promise<Place>]>([
  ['assertions of a client', assertionPlace],
  ['assertions of a trusted issuer', bearerPlace],
  ['access tokens at an API', resourcePlace],
  ['identity tokens of a provider', () => upstreamPlace(false)],
  ['logout tokens of a provider', () => upstreamPlace(true)],
])('made-up ids of keys in %s', (_name, open) => {
  test('cause one fetch in 30 seconds, and none delays the keys that are known', async () => {
    const place = await open()
    expect(await place.accepts(keys.first)).toBe(true)
    const seconds = 60
    for (let second = 0; second < seconds; second += 4) {
      for (const round of [1, 2]) expect(await place.accepts(keys.third, `made-up-${second}-${round}`)).toBe(false)
      place.advance(4)
    }
    expect(place.fetches()).toBeLessThanOrEqual(1 + Math.ceil(seconds / 30))
    expect(await place.accepts(keys.first)).toBe(true)
  })

  test('that begin with an empty memory cause one fetch', async () => {
    const place = await open()
    for (const round of [1, 2, 3]) expect(await place.accepts(keys.third, `made-up-${round}`)).toBe(false)
    expect(place.fetches()).toBe(1)
  })

  // In the seconds after a fetch that the age of the keys has caused, or the first request.
  test('do not hide a key that was published a second after the last fetch', async () => {
    const place = await open()
    expect(await place.accepts(keys.first)).toBe(true)
    place.advance(1)
    place.publish(keys.second)
    expect(await place.accepts(keys.second)).toBe(true)
    expect(place.fetches()).toBe(2)
    // The next one is found after the cooldown.
    place.advance(29)
    place.publish(keys.third)
    expect(await place.accepts(keys.third)).toBe(false)
    place.advance(1)
    expect(await place.accepts(keys.third)).toBe(true)
    expect(place.fetches()).toBe(3)
  })
})
