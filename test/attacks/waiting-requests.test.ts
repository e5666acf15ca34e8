/**
 * Attack: a caller without credentials begins sign-ins, pushes requests of a public client, and requests device codes,
 * as fast as the network allows. Each is stored until its user has decided, or it expires: the storage, or the memory of
 * the process, is full after seconds.
 *
 * RFC 9126 section 7.3 and RFC 8628 section 5.6 leave the protection to the provider; decision 106.
 */

import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestClock } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { challenge, clients, request, setUp as setUpEndpoint, web } from '../authorization/parties.ts'

const issuer = 'https://id.example.com'
const interaction = {
  interact: async ({ suspend }: { suspend: () => Promise<{ id: string }> }) => ({ html: (await suspend()).id }),
}
const tv = { clientId: 'tv', public: true, grantTypes: [deviceGrantType], scopes: ['openid', 'api1'] }
const native = {
  ...request,
  client_id: 'spa',
  redirect_uri: 'com.example.app:/callback',
  code_challenge: challenge,
  code_challenge_method: 'S256',
}

async function setUp(waitingRequests?: false | { total: number; perAddress?: number; window?: number }) {
  const clock = createTestClock()
  const storage = memoryDriver()
  const plugins = [
    authorizationCode(),
    proofKey(),
    refreshToken(),
    authorizationEndpoint({ interaction, features: [pushedAuthorization()] }),
    deviceAuthorization({ verificationUri: 'https://id.example.com/device' }),
  ]
  const create = async () =>
    setUpEndpoint(
      interaction,
      {},
      {
        plugins,
        storage,
        runtime: { now: clock.now },
        clients: [...clients, tv],
        ...(waitingRequests !== undefined && { abuseControl: { waitingRequests } }),
      },
    )
  const { provider, events } = await create()
  type Fetch = typeof provider.fetch

  const get = (parameters: Readonly<Record<string, string>>, from: string | undefined, fetch: Fetch) =>
    fetch(
      new Request(`${issuer}/connect/authorize?${new URLSearchParams(parameters)}`),
      from === undefined ? {} : { clientAddress: from },
    )
  const post = (
    path: string,
    form: Readonly<Record<string, string>>,
    from: string | undefined,
    fetch: Fetch,
    headers = {},
  ) =>
    fetch(
      new Request(`${issuer}/connect/${path}`, { method: 'POST', body: new URLSearchParams(form), headers }),
      from === undefined ? {} : { clientAddress: from },
    )
  /** What a caller without credentials can store. */
  const ways = {
    'a sign-in': (from?: string, fetch = provider.fetch, more = {}) => get({ ...request, ...more }, from, fetch),
    'a pushed request of a public client': (from?: string, fetch = provider.fetch, more = {}) =>
      post('par', { ...native, ...more }, from, fetch),
    'a device code': (from?: string, fetch = provider.fetch) =>
      post('deviceauthorization', { client_id: 'tv', scope: 'openid' }, from, fetch),
  }
  const bytes = (): number =>
    [...storage.getInstance().values()].reduce<number>((sum, item) => sum + JSON.stringify(item).length, 0)
  const waiting = () =>
    [...storage.getInstance().values()].filter((item) => JSON.stringify(item).includes(request.redirect_uri)).length
  const limited = () => events.filter(({ type }) => type === 'abuse_limited')
  return { clock, create, post, provider, ways, bytes, waiting, limited, items: () => storage.getInstance().size }
}

const wayNames = ['a sign-in', 'a pushed request of a public client', 'a device code'] as const
const flooder = '192.0.2.1'

describe('beyond a limit', () => {
  test.each(wayNames)(
    '%s of an address beyond its limit is 429, stores nothing, and harms no other address',
    async (name) => {
      const { ways, limited, items, clock } = await setUp({ total: 50, perAddress: 5, window: 600 })
      const send = ways[name]
      for (let count = 0; count < 5; count += 1) expect((await send(flooder)).status).toBeLessThan(300)
      const full = items()
      const refused = await send(flooder)
      expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.closeTo(300, -3)])
      expect(limited()).toMatchObject([{ limit: 'waitingRequests.perAddress', clientAddress: flooder }])
      for (let count = 0; count < 20; count += 1) expect((await send(flooder)).status).toBe(429)
      expect(items()).toBeLessThanOrEqual(full)
      expect((await send('192.0.2.2')).status).toBeLessThan(300)
      clock.advance(600)
      expect((await send(flooder)).status).toBeLessThan(300)
    },
  )

  test.each(wayNames)('%s of all addresses together beyond the total is 503', async (name) => {
    const { ways, limited, items } = await setUp({ total: 10, perAddress: 10 })
    const send = ways[name]
    for (let count = 0; count < 10; count += 1) expect((await send(`192.0.2.${count}`)).status).toBeLessThan(300)
    const full = items()
    for (const from of ['198.51.100.7', undefined, '2001:db8::1']) {
      const refused = await send(from)
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    }
    expect(limited()).toMatchObject([{ limit: 'waitingRequests.total' }])
    expect(items()).toBeLessThanOrEqual(full)
  })
})

test('the networks of one site of IPv6 are one source', async () => {
  const { ways } = await setUp({ total: 50, perAddress: 5 })
  for (let count = 0; count < 5; count += 1) await ways['a sign-in'](`2001:db8:0:${count}::1`)
  expect((await ways['a sign-in']('2001:db8:0:9::1')).status).toBe(429)
  expect((await ways['a sign-in']('2001:db8:1::1')).status).toBe(200)
})

test('the limit is one for all processes, and for concurrent requests', async () => {
  const { ways, create, provider, waiting } = await setUp({ total: 50, perAddress: 10 })
  const processes = [provider, (await create()).provider, (await create()).provider]
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, index) => ways['a sign-in'](flooder, processes[index % 3]?.fetch)),
  )
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
  // Those that were stored while their counters were on the way are removed.
  expect(waiting()).toBe(10)
})

test('a client with a secret pushes as many requests as it has users', async () => {
  const { post, provider } = await setUp({ total: 50, perAddress: 2 })
  const headers = { authorization: `Basic ${btoa(web.join(':'))}` }
  for (let count = 0; count < 10; count += 1) {
    expect((await post('par', request, flooder, provider.fetch, headers)).status).toBe(201)
  }
})

test('without limits, all are stored', async () => {
  const { ways } = await setUp(false)
  for (let count = 0; count < 50; count += 1) expect((await ways['a sign-in'](flooder)).status).toBe(200)
})

/** Bytes that a request of 4 KB takes besides its parameters: key, times, and the counter of its address. */
const overhead = 1000

test('by default, one address stores at most 5 MB in ten minutes, however large its requests are', async () => {
  const { ways, bytes } = await setUp()
  const before = bytes()
  let stored = 0
  for (const size of [12_000, 3000, 0]) {
    const more = size === 0 ? {} : { extra: 'x'.repeat(size) }
    let status = 200
    while (status === 200) {
      status = (await ways['a sign-in'](flooder, undefined, more)).status
      if (status === 200) stored += 1
    }
    expect(status).toBe(429)
  }
  expect(stored).toBeGreaterThan(200)
  expect(bytes() - before).toBeLessThan(1000 * (4096 + overhead))
})

test('all addresses together store at most 5 KB for each request of the total, however large their requests are', async () => {
  const total = 1000
  const { ways, bytes } = await setUp({ total })
  const before = bytes()
  const extra = 'x'.repeat(15_000)
  for (let site = 0; site < 12; site += 1) {
    let status = 200
    while (status === 200) status = (await ways['a sign-in'](`198.51.100.${site}`, undefined, { extra })).status
    expect(status).toBe(site < 10 ? 429 : 503)
  }
  expect(bytes() - before).toBeLessThan(total * (4096 + overhead))
  expect(bytes() - before).toBeGreaterThan(total * 3000)
})
