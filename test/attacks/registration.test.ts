/**
 * Attack: a caller registers clients: so many that the storage is full and no one else can register; with the id, the
 * token or the rights of another client; with a redirect URI or keys inside the network; or with a name that users take
 * for another application. An attacker who reads the log or the storage looks for what registers or manages clients.
 */
import { inspect } from 'node:util'
import { createTestProvider, mapDriver } from '@grantry/testing'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createKey } from '../client-assertion/assertions.ts'
import { issuer, metadata, setUp } from '../registration/parties.ts'

/** A storage that counts the operations of the plugin. */
function countingStorage() {
  const items = new Map<string, string>()
  const driver = mapDriver(items)
  const counts = { increments: 0, inserts: 0 }
  return {
    items,
    counts,
    storage: {
      ...driver,
      incrementItem(key: string, options: { ttl: number }) {
        counts.increments += 1
        return driver.incrementItem(key, options)
      },
      insertItem(key: string, value: string, options: { ttl: number }) {
        counts.inserts += 1
        return driver.insertItem(key, value, options)
      },
    },
  }
}

describe('registrations', () => {
  test('17.6 of one address: of 2,000 in a minute, 100 succeed, and the others do not reach the storage', async () => {
    const { counts, storage } = countingStorage()
    const f = await setUp({}, { storage })
    counts.increments = 0
    const statuses = []
    for (let count = 0; count < 2000; count += 1)
      statuses.push((await f.register(metadata, { from: '192.0.2.66' })).status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(100)
    expect(new Set(statuses.slice(100))).toEqual(new Set([429]))
    expect(counts.increments).toBe(201)
    // Others can register, and an hour later so can the address.
    expect((await f.register(metadata, { from: '192.0.2.1' })).status).toBe(201)
    f.clock.advance(3600)
    expect((await f.register(metadata, { from: '192.0.2.66' })).status).toBe(201)
  })

  test('17.6 of many addresses have a limit, and do not concern clients that exist, nor those with a token', async () => {
    const { counts, storage } = countingStorage()
    const f = await setUp({ maxTotal: 200 }, { storage })
    const honest = await f.registered()
    const statuses = []
    for (let count = 0; count < 2000; count += 1) {
      statuses.push((await f.register(metadata, { from: `198.51.${count >> 8}.${count & 255}` })).status)
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(199)
    expect(new Set(statuses.slice(199))).toEqual(new Set([503]))
    expect(counts.inserts).toBeLessThan(500)
    expect((await f.signIn(honest)).status).toBe(200)
    const { token } = await f.issueToken()
    expect((await f.register(metadata, { token, from: '192.0.2.9' })).status).toBe(201)
  })

  test('of one IPv6 site count as those of one address', async () => {
    const f = await setUp({ maxPerAddress: 3 })
    const statuses = []
    for (let count = 1; count < 6; count += 1) {
      statuses.push((await f.register(metadata, { from: `2001:db8:0:${count}::1` })).status)
    }
    expect(statuses).toEqual([201, 201, 201, 429, 429])
  })

  test('cannot choose an id, a secret, a token, or rights that the operator does not give', async () => {
    const f = await setUp()
    const taken = await f.registered()
    const client = await f.registered({
      client_id: taken.client_id,
      client_secret: 'chosen',
      registration_access_token: 'chosen',
      client_id_issued_at: 1,
      scope: 'openid admin api1',
      grant_types: ['authorization_code', 'client_credentials', 'password'],
      require_consent: false,
      requireConsent: false,
      selfDescribed: 'allow',
      enabled: true,
    })
    expect(client.client_id).not.toBe(taken.client_id)
    expect(client.registration_access_token).not.toBe('chosen')
    expect(client).toMatchObject({ scope: 'openid offline_access api1', grant_types: ['authorization_code'] })
    expect(client).not.toHaveProperty('client_secret')
    expect((await f.send(client.registration_client_uri, { method: 'GET', token: 'chosen' })).status).toBe(401)
  })

  test.each(['__proto__', 'constructor', 'toString'])('cannot send the member %s to change an object', async (name) => {
    const f = await setUp()
    const { status } = await f.register(`{"redirect_uris":["https://app.example.com/cb"],"${name}":{"public":true}}`)
    expect(status).toBe(name === '__proto__' ? 400 : 201)
    expect(({} as { public?: unknown }).public).toBeUndefined()
  })

  test('cannot hide characters in a name', async () => {
    const f = await setUp()
    const client = await f.registered({ client_name: '\u202Eknab ruoY\u0000 \u200B<b>' })
    expect(client.client_name).toBe('knab ruoY <b>')
  })
})

describe('tokens that an attacker guesses', () => {
  test.each([
    ['to register', `${issuer}/connect/register`, 'POST'],
    ['to manage a client', `${issuer}/connect/register/registered-${'a'.repeat(43)}`, 'GET'],
  ])('%s are counted for the address, like access tokens', async (_, url, method) => {
    const f = await setUp({ open: false }, { abuseControl: { validation: { failures: 20, window: 60 } } })
    const statuses = []
    for (let count = 0; count < 30; count += 1) {
      const body = method === 'POST' ? { body: metadata } : {}
      statuses.push((await f.send(url, { method, token: `guess-${count}`, from: '192.0.2.66', ...body })).status)
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
    expect(new Set(statuses.slice(20))).toEqual(new Set([429]))
  })

  test('are not counted if there is none: a client that does not know better locks no one out', async () => {
    const f = await setUp({ open: false }, { abuseControl: { validation: { failures: 2, window: 60 } } })
    for (let count = 0; count < 10; count += 1) expect((await f.register()).status).toBe(401)
    const { token } = await f.issueToken()
    expect((await f.register(metadata, { token })).status).toBe(201)
  })
})

test('no event and no stored record contains what registers, manages or authenticates a client', async () => {
  const key = await createKey('ES256', { kid: 'vouching' })
  const items = new Map<string, string>()
  const voucher = 'https://vouching.example.com'
  const f = await setUp(
    { softwareStatements: { issuers: [{ issuer: voucher, jwks: { keys: [key.jwk] } }] } },
    { storage: mapDriver(items) },
  )
  const { token } = await f.issueToken(3)
  const client = await f.registered({ token_endpoint_auth_method: 'client_secret_basic' }, { token })
  const changed = await f.send(client.registration_client_uri, {
    method: 'PUT',
    token: client.registration_access_token,
    body: { ...metadata, client_id: client.client_id, client_secret: client.client_secret },
  })
  await f.send(client.registration_client_uri, { method: 'PUT', token, body: { client_secret: client.client_secret } })
  await f.register({
    ...metadata,
    software_statement: await new SignJWT({ iss: voucher }).setProtectedHeader({ alg: 'ES256' }).sign(key.privateKey),
  })
  const secrets = [
    token,
    client.client_secret,
    client.registration_access_token,
    changed.body.registration_access_token,
  ]
  const seen =
    inspect(f.events, { depth: null, maxStringLength: null, maxArrayLength: null }) + JSON.stringify(f.events)
  const stored = [...items].flat().join('\n')
  expect(seen).toContain('client_changed')
  for (const secret of secrets) {
    expect(secret).toMatch(/^[\w-]{43}$/u)
    expect(seen.includes(String(secret))).toBe(false)
    expect(stored.includes(String(secret))).toBe(false)
  }
})

test('the provider has no registration without the plugin', async () => {
  const f = await createTestProvider({ plugins: [] })
  const response = await f.provider.fetch(new Request(`${issuer}/connect/register`, { method: 'POST' }))
  expect(response.status).toBe(404)
})
