/**
 * Attack: a caller who has not signed in names one URL after the other, with a document at each, so that the provider
 * stores a copy of each for a day: 175 MB from one address. A copy lives for half an hour until its client has got a token,
 * and no document of a stranger shortens the copy of a client whose users have signed in.
 */
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
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
