import { endpointNames, type ProviderEvent } from '@grantry/core'
import { basic } from '@grantry/testing'
import { expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

/** A typical day: every endpoint, with valid and invalid requests, while the clock advances. */
async function run(f: Fixture): Promise<void> {
  const code = await f.code()
  f.clock.advance(1)
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const { access_token: token, id_token, refresh_token } = (await f.post('token', form, web)).body
  for (const each of [token, 'x']) {
    f.clock.advance(1)
    await f.get('userinfo', {}, { authorization: `Bearer ${each}` })
    await f.post('accessTokenValidation', { token: each })
    await f.post('introspection', { token: each }, api1)
  }
  await f.post('identityTokenValidation', { token: id_token, client_id: 'web' })
  await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)
  f.clock.advance(11)
  await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)
  const userForm = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
  await f.post('token', { ...userForm, password: 'x' }, web)
  await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['web', 'x'])
  await f.post('revocation', { token: (await f.post('token', userForm, web)).body.access_token }, web)
  await f.get('discovery')
  await f.get('authorizationServerMetadata')
  await f.get('jwks')
}

function requestsIn(events: readonly ProviderEvent[]): readonly (readonly ProviderEvent[])[] {
  const requests = new Map<string, ProviderEvent[]>()
  for (const event of events) {
    const [request = ''] = event.id.split('.')
    requests.set(request, [...(requests.get(request) ?? []), event])
  }
  return [...requests.values()]
}

test('10.12 every event has the time of the injected clock, in epoch seconds', async () => {
  const times: number[] = []
  let now = () => 0
  const f = await fixture({ observe: () => times.push(now()) })
  now = f.clock.now
  const before = f.events.length
  await run(f)
  expect(f.events.slice(before).map(({ time }) => time)).toEqual(times.slice(before))
  expect(new Set(times.slice(before)).size).toBeGreaterThan(3)
})

test('10.12 every event has a unique id, also across providers', async () => {
  const f = await fixture()
  const g = await fixture()
  for (const each of [f, g, f]) await run(each)
  const ids = [...f.events, ...g.events].map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(100)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[\w-]{12}\.\d+$/u)
})

test('10.12 the events of one request share the first part of their ids and are numbered', async () => {
  const f = await fixture()
  const responses = await Promise.all([
    f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web),
    f.post('token', { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }, web),
  ])
  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  const numbers = requestsIn(f.events).map((events) => events.map(({ id }) => id.split('.')[1]))
  expect(numbers).toEqual([
    ['1', '2', '3'],
    ['1', '2', '3', '4'],
  ])
})

test('10.12 every event of a request names its endpoint', async () => {
  const f = await fixture()
  await run(f)
  const names = new Set(f.events.flatMap(({ endpoint }) => endpoint ?? []))
  // A direct call of the host, beside the endpoints.
  expect([...names].sort()).toEqual([...endpointNames, 'authorize'].sort())
  expect(f.events.filter(({ endpoint }) => endpoint === undefined)).toEqual([])
})

test('10.12 once a client is authenticated, every event of the request names it; before, none does', async () => {
  const f = await fixture()
  await run(f)
  for (const events of requestsIn(f.events)) {
    const known = events.findIndex(({ clientId }) => clientId !== undefined)
    if (known < 0) continue
    expect(events.slice(known).map(({ clientId }) => clientId)).toEqual(events.slice(known).map(() => 'web'))
  }
  const bySuccess = f.events.filter(({ type }) => type === 'client_authentication_succeeded')
  expect(bySuccess.map(({ clientId }) => clientId)).toEqual(bySuccess.map(() => 'web'))
  const byFailure = f.events.filter(({ type }) => type === 'client_authentication_failed')
  expect(byFailure.map(({ clientId }) => clientId)).toEqual([undefined])
})

test('10.12 once a subject is known, every event of the request names it', async () => {
  const f = await fixture()
  await run(f)
  const types = new Set(f.events.filter(({ sub }) => sub === '1').map(({ type }) => type))
  for (const type of [
    'code_issued',
    'code_redeemed',
    'token_issued',
    'refresh_rotated',
    'refresh_reused',
    'family_revoked',
    'token_revoked',
    'validation_succeeded',
    'introspection_active',
    'endpoint_succeeded',
    'endpoint_failed',
  ] as const) {
    expect(types).toContain(type)
  }
  const subjectless = f.events.filter(({ type, sub }) => type === 'token_issued' && sub === undefined)
  expect(subjectless).toEqual([])
})

test('10.12 contains the address of the caller if the adapter knows it', async () => {
  const f = await fixture()
  const request = () =>
    new Request('https://id.example.com/connect/token', {
      method: 'POST',
      headers: { authorization: basic(web), 'x-forwarded-for': '203.0.113.9' },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
    })
  const before = f.events.length
  await f.provider.fetch(request(), { clientAddress: '198.51.100.7' })
  const addresses = f.events.slice(before).map(({ clientAddress }) => clientAddress)
  expect(addresses).toEqual(['198.51.100.7', '198.51.100.7', '198.51.100.7'])
  await f.provider.fetch(request())
  // Not taken from a header, which any client can send.
  expect(f.events.at(-1)).not.toHaveProperty('clientAddress')
})

test('10.12 a fingerprint is the first 8 hex digits of the SHA-256 of the credential', async () => {
  const f = await fixture()
  const code = await f.code()
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code))
  expect(f.events.at(-1)).toMatchObject({ fingerprint: Buffer.from(digest).toString('hex').slice(0, 8) })
  await run(f)
  const fingerprints = f.events.flatMap((event) => ('fingerprint' in event ? [event.fingerprint] : []))
  expect(fingerprints.length).toBeGreaterThan(5)
  for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{8}$/u)
})
