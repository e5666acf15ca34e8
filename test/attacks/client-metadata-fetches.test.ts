/**
 * Attack: a caller who has not signed in names URLs as client ids, so that the provider sends requests: to hosts inside
 * its network, to a victim whom the requests flood, or to slow hosts that hold the places of all look-ups. Each address
 * has a budget of fetches, equal ones are one, and clients that are known do not notice.
 */
import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document, setUp } from '../client-metadata/parties.ts'

const urls = (count: number) => Array.from({ length: count }, (_, index) => `https://app.example.com/${index}/client`)
const never = () => new Promise<never>(() => {})

describe('requests for documents', () => {
  test('of one address: 10,000 URLs in a minute are 20 fetches, and one event each', async () => {
    const f = await setUp()
    const outcomes = []
    for (const client_id of urls(10_000)) outcomes.push((await f.authorize({ client_id }, '192.0.2.66')).status)
    expect(f.requested).toHaveLength(20)
    expect(new Set(outcomes.slice(20))).toEqual(new Set([429]))
    expect(f.failures()).toHaveLength(10_000)
    expect(new Set(f.failures().slice(20))).toEqual(new Set(['plugin:client-metadata:too_many_of_address']))
    // Others are not affected, and a minute later neither is the address.
    expect((await f.authorize({}, '192.0.2.1')).code).toEqual(expect.any(String))
    f.clock.advance(61)
    await f.authorize({ client_id: urls(1)[0] ?? '' }, '192.0.2.66')
    expect(f.requested).toHaveLength(22)
  })

  test('of one IPv6 network count as those of one address', async () => {
    const f = await setUp()
    for (const [index, client_id] of urls(40).entries()) await f.authorize({ client_id }, `2001:db8::${index + 1}`)
    expect(f.requested).toHaveLength(20)
  })

  test('of all addresses together have a limit, and a client that is known needs none', async () => {
    const f = await setUp(createHosts(), { maxFetches: 50 })
    expect((await f.redeem((await f.authorize()).code)).status).toBe(200)
    for (const [index, client_id] of urls(100).entries()) await f.authorize({ client_id }, `192.0.2.${index}`)
    expect(f.requested).toHaveLength(50)
    f.clock.advance(3600 - (f.clock.now() % 60) + 1)
    for (const [index, client_id] of urls(100).entries()) await f.authorize({ client_id }, `192.0.2.${index}`)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    expect(f.requested).toHaveLength(100)
  })

  test('for the same URL at the same time are one', async () => {
    let respond: (response: Response) => void = () => {}
    const slow = new Promise<Response>((resolve) => {
      respond = resolve
    })
    const f = await setUp(createHosts({ [clientId]: () => slow }))
    const all = Array.from({ length: 8 }, (_, index) => f.authorize({}, `192.0.2.${index}`))
    respond(new Response(JSON.stringify(document), { headers: { 'content-type': 'application/json' } }))
    for (const { code } of await Promise.all(all)) expect(code).toEqual(expect.any(String))
    expect(f.requested).toEqual([clientId])
  })

  test('that hang leave places for clients that are known', async () => {
    const hosts = createHosts()
    const f = await setUp(hosts, { timeout: 10, maxFetchesPerAddress: 1000 })
    expect((await f.authorize()).code).toEqual(expect.any(String))
    const slow = urls(1000)
    for (const url of slow) hosts.hosted.set(url, never)
    const waiting = slow.map((client_id) => f.authorize({ client_id }))
    const refused = await Promise.race(waiting)
    expect(refused.status).toBe(503)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    // Four of a host are in progress; no other one was sent.
    expect(f.requested).toHaveLength(5)
  })

  test('that hang, of one address, leave places for others, whose documents are not known', async () => {
    const hosts = createHosts()
    const f = await setUp(hosts, { timeout: 10 })
    const slow = Array.from({ length: 8 }, (_, index) => `https://slow${index}.example.com/client`)
    for (const url of slow) hosts.hosted.set(url, never)
    const attack = slow.flatMap((client_id) =>
      Array.from({ length: 8 }, () => f.authorize({ client_id }, '192.0.2.66').then(({ status }) => status)),
    )
    expect(await Promise.race(attack)).toBe(503)
    expect((await f.authorize({}, '192.0.2.1')).code).toEqual(expect.any(String))
  })
})

describe('a document', () => {
  test('that has failed does not displace one that is known', async () => {
    const f = await setUp(createHosts(), { maxFetchesPerAddress: 10_000, maxFetches: 100_000 })
    await f.authorize()
    for (const client_id of urls(1100)) await f.authorize({ client_id })
    f.hosted.delete(clientId)
    expect((await f.authorize()).code).toEqual(expect.any(String))
  })

  test('of another client cannot be claimed', async () => {
    const evil = 'https://evil.example.com/client.json'
    const f = await setUp(createHosts({ [evil]: { body: document } }))
    expect((await f.authorize({ client_id: evil })).status).toBe(503)
  })
})
