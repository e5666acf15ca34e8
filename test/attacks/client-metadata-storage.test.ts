/**
 * Attack: a caller who has not signed in names one URL after the other, with a document at each, so that the provider
 * stores a copy of each for a day: 175 MB from one address. A copy lives for half an hour until its client has got a token,
 * and no document of a stranger shortens the copy of a client whose users have signed in. What strangers can make the storage
 * keep has a limit in bytes, for a site and in all, which copies of clients with tokens do not use up.
 */
import { createTestClock, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { maxKept, maxKeptOfSite } from '../../plugins/client-metadata/kept-bytes.ts'
import { clientId, createHosts, document, setUp } from '../client-metadata/parties.ts'

const minute = 60

/** A storage that notes the lifetimes of documents, in seconds. */
function measured() {
  const writes = { count: 0 }
  const items = new Map<string, string>()
  const ends = new Map<string, number>()
  const driver = mapDriver(items)
  const storage = {
    ...driver,
    setItem(key: string, value: string, options: { ttl: number }) {
      if (value.includes('client_name')) {
        writes.count += 1
        ends.set(key, options.ttl)
      }
      return driver.setItem?.(key, value, options)
    },
  }
  return { storage, ends, writes }
}

test('copies of documents whose clients have no token end after half an hour', async () => {
  const { storage, ends } = measured()
  const hosts = createHosts()
  const f = await setUp(hosts, {}, { storage })
  for (let at = 0; at < 20; at += 1) {
    const url = `https://app.example.com/${at}/client`
    hosts.hosted.set(url, { body: { ...document, client_id: url }, headers: { 'cache-control': 'max-age=86400' } })
    expect((await f.authorize({ client_id: url }, '192.0.2.66')).code).toEqual(expect.any(String))
  }
  expect(ends.size).toBe(20)
  expect(Math.max(...ends.values())).toBeLessThanOrEqual(30 * minute + 60)
})

test('a copy lives for a day after the client has got a token, also when its document is fetched again', async () => {
  const f = await setUp()
  const { body } = await f.redeem((await f.authorize()).code)
  f.clock.advance(45 * minute)
  const down = () => Promise.reject(new Error('down'))
  f.hosted.set(clientId, down)
  expect((await f.authorize()).code).toEqual(expect.any(String))
  f.hosted.set(clientId, { body: document })
  f.clock.advance(minute)
  expect((await f.authorize()).code).toEqual(expect.any(String))
  f.hosted.set(clientId, down)
  f.clock.advance(23 * 60 * minute)
  expect((await f.authorize()).code).toEqual(expect.any(String))
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: clientId }
  expect((await f.post('token', refresh)).status).toBe(200)
})

test('a copy ends half an hour later if no client got a token', async () => {
  const f = await setUp()
  expect((await f.authorize()).code).toEqual(expect.any(String))
  f.hosted.set(clientId, () => Promise.reject(new Error('down')))
  f.clock.advance(29 * minute)
  expect((await f.authorize()).code).toEqual(expect.any(String))
  f.clock.advance(2 * minute)
  expect((await f.authorize()).status).toBe(503)
})

test('tokens of a known client write its copy once', async () => {
  const { storage, ends, writes } = measured()
  const f = await setUp(createHosts(), {}, { storage })
  for (let at = 0; at < 5; at += 1) await f.redeem((await f.authorize()).code)
  expect([writes.count, ends.size]).toEqual([2, 1])
})

/** A provider whose storage has its clock, and documents of 40 KB with eight origins at any URL. */
async function flooded() {
  const clock = createTestClock()
  const items = new Map<string, string>()
  const hosts = createHosts()
  const f = await setUp(
    hosts,
    { maxFetches: 10_000, maxFetchesPerAddress: 1000, maxSize: 65_536 },
    { storage: mapDriver(items, clock.now), runtime: { now: clock.now } },
  )
  let count = 0
  async function named(from: string) {
    count += 1
    const url = `https://h${count}.example.com/client`
    const others = Array.from({ length: 7 }, (_, at) => `https://o${at}.h${count}.example.com/`)
    const body = { ...document, client_id: url, redirect_uris: [...document.redirect_uris, ...others] }
    hosts.hosted.set(url, { body: { ...body, padding: 'x'.repeat(40_000) } })
    return (await f.authorize({ client_id: url }, from)).code
  }
  const flood = async (requests: number, from: (at: number) => string) => {
    for (let at = 0; at < requests; at += 1) expect(await named(from(at))).toEqual(expect.any(String))
  }
  const documents = () => [...items.values()].filter((text) => text.includes('"padding"'))
  const bytes = () => documents().reduce((sum, text) => sum + text.length, 0)
  return { ...f, clock, flood, bytes }
}

/** The bytes of one document. */
const sizeOfDocument = 40_500

test('copies for one site have a limit in bytes, also of an IPv6 site with many networks, and its users sign in', async () => {
  const { flood, bytes } = await flooded()
  await flood(20, (at) => `2001:db8:7:${at}::1`)
  expect(bytes()).toBeGreaterThan(maxKeptOfSite - 2 * sizeOfDocument)
  expect(bytes()).toBeLessThanOrEqual(maxKeptOfSite)
})

test('copies for all sites together have a limit in bytes', async () => {
  const { flood, bytes } = await flooded()
  await flood(230, (at) => `198.51.100.${at}`)
  // A record has a name and an envelope, and each of eight origins, too.
  expect(bytes()).toBeGreaterThan(maxKept * 0.9)
  expect(bytes()).toBeLessThanOrEqual(maxKept * 0.97)
})

test('a site that is over its limit uses up nothing of the others', async () => {
  const { flood, bytes } = await flooded()
  await flood(230, () => '192.0.2.66')
  const before = bytes()
  expect(before).toBeLessThanOrEqual(maxKeptOfSite)
  await flood(5, (at) => `198.51.100.${at}`)
  expect(bytes()).toBeGreaterThan(before + 5 * 40_000)
})

test('the share is there again when the copies have ended', async () => {
  const { flood, bytes, clock } = await flooded()
  await flood(10, () => '192.0.2.66')
  const before = bytes()
  clock.advance(60 * minute)
  await flood(1, () => '192.0.2.66')
  expect(bytes()).toBeGreaterThan(before)
})

test('a client that gets a token has a copy for a day, although strangers have used up the share', async () => {
  const f = await flooded()
  const from = '192.0.2.66'
  await f.flood(10, () => from)
  f.hosted.set(clientId, { body: { ...document, padding: 'x'.repeat(40_000) } })
  const before = f.bytes()
  const { body } = await f.redeem((await f.authorize({}, from)).code)
  expect([body.refresh_token, f.bytes()]).toEqual([expect.any(String), before])
  f.clock.advance(10 * minute)
  expect((await f.authorize({}, from)).code).toEqual(expect.any(String))
  f.hosted.set(clientId, () => Promise.reject(new Error('down')))
  f.clock.advance(23 * 60 * minute)
  const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), client_id: clientId }
  expect((await f.post('token', refresh)).status).toBe(200)
})
