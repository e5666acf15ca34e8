/**
 * Attack: guessing the secret of a client or scope, from one address or by trying all client ids there; and failing on
 * purpose in the name of another client, to lock it out.
 *
 * RFC 6749 section 2.3.1: the server MUST protect any endpoint that takes a client secret against brute force. By
 * default 10 failures for a client and an address and 50 for an address get a result in a minute; then 429, without
 * checking the secret.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, otherClient, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { pause } from '../support/pause.ts'

const home = '192.0.2.1'
const elsewhere = '198.51.100.7'
const grant = { grant_type: 'client_credentials', scope: 'api1' }

const send = (f: Fixture, secret: string, from: string | undefined = home, id = 'web') =>
  f.post('token', grant, [id, secret], from)
const statuses = async (count: number, act: (index: number) => Promise<{ status: number }>) => {
  const all: number[] = []
  for (let index = 0; index < count; index += 1) all.push((await act(index)).status)
  return all
}
const times = (count: number, status: number): number[] => Array(count).fill(status)

describe('guessing the secret of a client', () => {
  test('reports ten failures, then 429 with Retry-After, for the right secret too', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await statuses(12, (index) => send(f, `guess ${index}`))).toEqual([...times(10, 401), 429, 429])
    const { status, body, headers } = await send(f, web[1])
    expect(status).toBe(429)
    expect(body).toEqual({ error: 'slow_down', error_description: expect.any(String) })
    expect(headers.get('www-authenticate')).toBeNull()
    expect(headers.get('cache-control')).toBe('no-store')
    const wait = Number(headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    f.clock.advance(wait)
    expect((await send(f, web[1])).status).toBe(200)
  })

  test('serves the client from another address, and another client from this one', async () => {
    const f = await fixture({ abuseControl: true })
    await statuses(15, () => send(f, 'wrong'))
    expect((await send(f, web[1], elsewhere)).status).toBe(200)
    expect((await send(f, otherClient[1], home, otherClient[0])).status).toBe(200)
  })

  test('the revocation endpoint shares the count', async () => {
    const f = await fixture({ abuseControl: true })
    const revoke = () => f.post('revocation', { token: 'x' }, ['web', 'wrong'], home)
    expect(await statuses(11, (index) => (index % 2 === 0 ? send(f, 'wrong') : revoke()))).toEqual([
      ...times(10, 401),
      429,
    ])
  })

  test('an address that tries many client ids, known or not, gets fifty failures', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await statuses(52, (index) => send(f, 'x', home, `client ${index}`))).toEqual([...times(50, 401), 429, 429])
    expect((await send(f, web[1])).status).toBe(429)
    expect((await send(f, web[1], elsewhere)).status).toBe(200)
  })

  test('a request that is wrong in another way is not a failure', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await statuses(60, () => f.post('token', { grant_type: 'unknown' }, web, home))).toEqual(times(60, 400))
    expect((await send(f, web[1])).status).toBe(200)
  })

  test('of concurrent guesses over four providers with a slow store, exactly ten get a result', async () => {
    const store = memoryDriver()
    const all = await Promise.all(
      Array.from({ length: 4 }, () => fixture({ storage: withLatency(store), abuseControl: true })),
    )
    const responses = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => (await send(all[index % 4] as Fixture, 'wrong')).status),
    )
    expect(responses.filter((status) => status === 401)).toHaveLength(10)
    expect(responses.filter((status) => status === 429)).toHaveLength(190)
  })

  test('no other spelling of a client id in the header has separate guesses', async () => {
    const f = await fixture({ abuseControl: true })
    const spellings = ['web', '%77eb', 'w%65b', 'we%62', '%77%65b', 'w%65%62']
    const responses = await statuses(12, (index) => send(f, 'wrong', home, spellings[index % spellings.length]))
    expect(responses).toEqual([...times(10, 401), 429, 429])
    for (const id of spellings) expect((await send(f, web[1], home, id)).status).toBe(429)
  })

  test.each(['a+b', '50%', 'a%41b', '%2B+'])(
    'a client whose id %j looks encoded has no separate guesses either',
    async (clientId) => {
      const f = await fixture({ abuseControl: true, clients: [{ ...clients[0], clientId }] })
      const spellings = [clientId, encodeURIComponent(clientId)]
      for (const id of spellings) expect((await send(f, web[1], home, id)).status).toBe(200)
      const responses = await statuses(12, (index) => send(f, 'wrong', home, spellings[index % spellings.length]))
      expect(responses).toEqual([...times(10, 401), 429, 429])
    },
  )

  test('a process that has not seen the failures reports no further one, and refuses the right secret', async () => {
    const storage = memoryDriver()
    const [first, second] = [
      await fixture({ storage, abuseControl: true }),
      await fixture({ storage, abuseControl: true }),
    ]
    await statuses(10, () => send(first, 'wrong'))
    expect(await statuses(3, () => send(second, 'wrong'))).toEqual(times(3, 429))
    expect((await send(second, web[1])).status).toBe(429)
  })

  test('of concurrent guesses with a slow client store, the right one is not distinguishable', async () => {
    const client = clients.find(({ clientId }) => clientId === 'web')
    const f = await fixture({
      abuseControl: true,
      clients: {
        async find(clientId) {
          await pause(20)
          return clientId === 'web' ? client : undefined
        },
      },
    })
    const guesses = [...Array.from({ length: 60 }, (_, index) => `guess ${index}`), web[1]]
    const responses = await Promise.all(guesses.map(async (guess) => (await send(f, guess)).status))
    expect(responses.filter((status) => status === 401)).toHaveLength(10)
    expect(responses.at(-1)).toBe(429)
  })

  test('reports each limit once, and each failure with its reason', async () => {
    const f = await fixture({ abuseControl: true })
    await statuses(30, () => send(f, 'wrong'))
    expect(f.events.filter(({ type }) => type === 'abuse_limited')).toEqual([
      expect.objectContaining({
        limit: 'clients.perClientAndAddress',
        retryAfter: expect.any(Number),
        clientAddress: home,
      }),
    ])
    const reasons = f.events.flatMap((event) => (event.type === 'client_authentication_failed' ? [event.reason] : []))
    expect(reasons).toEqual([...Array(10).fill('secret_mismatch'), ...Array(20).fill('too_many_failures')])
  })
})

describe('guessing the secret of a scope', () => {
  test('at introspection it is 429 too, never an inactive token', async () => {
    const f = await fixture({ abuseControl: true })
    const introspect = (secret: string, from = home) => f.post('introspection', { token: 'x' }, ['api1', secret], from)
    expect(await statuses(12, () => introspect('wrong'))).toEqual([...times(10, 401), 429, 429])
    const { status, body, headers } = await introspect(api1[1])
    expect(status).toBe(429)
    expect(body.error).toBe('slow_down')
    expect(body).not.toHaveProperty('active')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await introspect(api1[1], elsewhere)).body).toEqual({ active: false })
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'introspection_denied', reason: 'too_many_failures' }),
    )
  })

  test('is counted separately from a client of the same name', async () => {
    const f = await fixture({ abuseControl: true })
    await statuses(12, () => f.post('introspection', { token: 'x' }, ['web', 'wrong'], home))
    expect((await send(f, web[1])).status).toBe(200)
  })
})

describe('a host that does not report the address of a request', () => {
  test('limits no client, since others could lock it out, and causes one warning, at the first failure', async () => {
    const f = await fixture({ abuseControl: true })
    const warnings = () =>
      f.events.filter((event) => event.type === 'startup_warning' && event.reason === 'client_address_unknown')
    const withoutAddress = () => f.post('token', grant, ['web', 'wrong'])
    expect((await f.post('token', grant, web)).status).toBe(200)
    expect(warnings()).toEqual([])
    expect(await statuses(60, withoutAddress)).toEqual(times(60, 401))
    expect((await f.post('token', grant, web)).status).toBe(200)
    expect(warnings()).toHaveLength(1)
  })
})

describe('the cost of a success', () => {
  test('is no operation of the store, with limits or without', async () => {
    const operations = async (abuseControl: boolean) => {
      const store = memoryDriver()
      let count = 0
      const counted =
        <A extends unknown[], R>(act: (...values: A) => R) =>
        (...values: A): R => {
          count += 1
          return act(...values)
        }
      const f = await fixture({
        abuseControl,
        storage: {
          ...store,
          getItem: counted(store.getItem),
          setItem: counted(store.setItem),
          insertItem: counted(store.insertItem),
          incrementItem: counted(store.incrementItem),
          removeItem: counted(store.removeItem),
        },
      })
      count = 0
      const { body } = await send(f, web[1])
      await f.post('introspection', { token: body.access_token }, api1, home)
      await f.post('accessTokenValidation', { token: body.access_token }, undefined, home)
      return count
    }
    expect(await operations(true)).toBe(await operations(false))
  })
})
