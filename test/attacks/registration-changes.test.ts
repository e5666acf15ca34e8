/**
 * Attack: a stranger registers one client and changes it again and again, each time with 50 redirect URIs of other
 * origins, so that the storage grows without an end: 51 records with each change. Or a change of a client arrives after
 * another one has replaced what it follows, and brings old metadata back. Changes count like registrations, and those of
 * strangers use up no change of a client that a token has admitted.
 */
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { metadata, type Registered, setUp } from '../registration/parties.ts'

type Setup = Awaited<ReturnType<typeof setUp>>

const urisOf = (at: number) => Array.from({ length: 50 }, (_, index) => `https://host${at}-${index}.example.com/cb`)

const change = (f: Setup, client: Registered, token: string, at: number, from = '192.0.2.66') =>
  f.send(client.registration_client_uri, {
    method: 'PUT',
    token,
    from,
    body: { ...metadata, client_id: client.client_id, redirect_uris: urisOf(at) },
  })

/** Changes a client as often as it can. Returns how often, and the last response. */
async function changes(f: Setup, client: Registered, most: number, from?: string) {
  let token = client.registration_access_token
  for (let count = 0; count < most; count += 1) {
    const { status, body, headers } = await change(f, client, token, count, from)
    if (status !== 200) return { count, status, headers }
    token = body.registration_access_token
  }
  return { count: most, status: 200 }
}

describe('changes of a registration', () => {
  test('have a limit for each client', async () => {
    const items = new Map<string, string>()
    const f = await setUp({}, { storage: mapDriver(items) })
    const client = await f.registered()
    const { count, status, headers } = await changes(f, client, 200)
    expect([count, status, headers?.get('retry-after')]).toEqual([20, 429, expect.any(String)])
    expect(items.size).toBeLessThan(1200)
  })

  test('of many clients of one address have the limit of registrations', async () => {
    const f = await setUp({ maxPerAddress: 30 })
    const clients = []
    for (let index = 0; index < 10; index += 1) clients.push(await f.registered({}, { from: '192.0.2.66' }))
    let done = 0
    for (const client of clients) done += (await changes(f, client, 10, '192.0.2.66')).count
    expect(done).toBe(20)
    // Neither other addresses nor those whom a token has admitted are concerned.
    expect((await changes(f, await f.registered({}, { from: '192.0.2.1' }), 3, '192.0.2.1')).count).toBe(3)
  })

  test('of strangers use up no change of a client that a token has admitted', async () => {
    const f = await setUp({ maxTotal: 3, maxPerAddress: 3 })
    const { token } = await f.issueToken(1)
    const admitted = await f.registered({}, { token })
    const stranger = await f.registered()
    expect((await changes(f, stranger, 10)).count).toBe(2)
    expect((await changes(f, admitted, 5)).count).toBe(5)
  })

  test('that are refused are not counted', async () => {
    const f = await setUp()
    const client = await f.registered()
    for (let index = 0; index < 50; index += 1) {
      const body = { ...metadata, client_id: client.client_id, redirect_uris: ['javascript:alert(1)'] }
      const sent = { method: 'PUT', token: client.registration_access_token, body }
      expect((await f.send(client.registration_client_uri, sent)).status).toBe(400)
    }
    expect((await changes(f, client, 1)).count).toBe(1)
  })
})

test('a change that is late by more than its claim lives does not undo another one', async () => {
  const items = new Map<string, string>()
  const driver = mapDriver(items)
  const claims: string[] = []
  let hold = false
  let release: () => void = () => {}
  let reached: () => void = () => {}
  const isReached = new Promise<void>((resolve) => {
    reached = resolve
  })
  const storage = {
    ...driver,
    async insertItem(key: string, value: string, options: { ttl: number }) {
      if (hold) {
        hold = false
        const released = new Promise<void>((resolve) => {
          release = resolve
        })
        reached()
        await released
      } else claims.push(key)
      return driver.insertItem(key, value, options)
    },
  }
  const f = await setUp({}, { storage })
  const client = await f.registered()
  hold = true
  // It has read the first generation, and claims it after the other change and the end of its claim.
  const late = change(f, client, client.registration_access_token, 1)
  await isReached
  claims.length = 0
  expect((await change(f, client, client.registration_access_token, 2)).status).toBe(200)
  f.clock.advance(61)
  // The storage removes what has expired.
  items.delete(claims[0] ?? '')
  release()
  expect((await late).status).toBe(503)
  const { body } = await f.send(client.registration_client_uri, {
    method: 'GET',
    token: client.registration_access_token,
  })
  expect(body.redirect_uris).toEqual(urisOf(2))
})
