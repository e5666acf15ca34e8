import type { JsonObject } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { issuer, metadata, type Registered, redirectUri, setUp } from './parties.ts'

type Setup = Awaited<ReturnType<typeof setUp>>

const otherUri = 'https://app.example.com/other'

const read = (f: Setup, client: Registered, token = client.registration_access_token) =>
  f.send(client.registration_client_uri, { method: 'GET', token })

const replace = (f: Setup, client: Registered, more: JsonObject = {}, token = client.registration_access_token) =>
  f.send(client.registration_client_uri, {
    method: 'PUT',
    token,
    body: { client_id: client.client_id, ...metadata, ...more },
  })

const remove = (f: Setup, client: Registered, token = client.registration_access_token) =>
  f.send(client.registration_client_uri, { method: 'DELETE', token })

describe('a client', () => {
  test('17.7 reads its registration, without its secret', async () => {
    const f = await setUp()
    const { client_secret: _, ...client } = await f.registered({ token_endpoint_auth_method: 'client_secret_post' })
    const { status, headers, body } = await read(f, client)
    expect([status, headers.get('cache-control')]).toEqual([200, expect.stringContaining('no-store')])
    expect(body).toEqual(client)
  })

  test('17.7 replaces it: what it does not send has its default', async () => {
    const f = await setUp()
    const client = await f.registered({ client_uri: 'https://app.example.com', scope: 'api1' })
    const { status, body } = await replace(f, client, { redirect_uris: [otherUri], client_name: 'Another name' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      client_id: client.client_id,
      client_id_issued_at: client.client_id_issued_at,
      redirect_uris: [otherUri],
      client_name: 'Another name',
      scope: 'openid offline_access api1',
    })
    expect(body).not.toHaveProperty('client_uri')
    expect((await f.authorize(client)).code).toBe('')
    expect((await f.authorize(client, { redirect_uri: otherUri })).code).not.toBe('')
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'client_changed', clientId: client.client_id }))
  })

  test('17.7 removes it: no token and no code of it is of use', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { body } = await f.signIn(client)
    const { code } = await f.authorize(client)
    const removed = await remove(f, client)
    expect([removed.status, removed.body]).toEqual([204, undefined])
    expect((await f.refresh(client, body.refresh_token)).body).toMatchObject({ error: 'invalid_client' })
    expect(
      (await f.post('token', { grant_type: 'authorization_code', code, client_id: client.client_id })).status,
    ).toBe(401)
    expect((await f.authorize(client)).code).toBe('')
    expect((await read(f, client)).status).toBe(401)
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'client_removed', clientId: client.client_id }))
  })

  test('gets a secret with the method that needs one, and loses it with the other', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { body } = await replace(f, client, { token_endpoint_auth_method: 'client_secret_basic' })
    expect((await f.signIn(body)).status).toBe(200)
    const { body: without } = await replace(f, body, { token_endpoint_auth_method: 'none' })
    expect(without).not.toHaveProperty('client_secret_expires_at')
    expect((await f.signIn(body)).status).toBe(401)
    expect((await f.signIn(without)).status).toBe(200)
  })

  test('keeps its secret until half of its life is over; both are then valid for a day', async () => {
    const f = await setUp({ unusedLifetime: 90 * 86_400, secretLifetime: 10 * 86_400 })
    const basic = { token_endpoint_auth_method: 'client_secret_basic' }
    const client = await f.registered(basic)
    expect((await f.signIn(client)).status).toBe(200)
    const early = await replace(f, client, { ...basic, client_secret: client.client_secret ?? '' })
    expect(early.body.client_secret).toBe(client.client_secret)
    f.clock.advance(6 * 86_400)
    const late = await replace(f, early.body, basic)
    expect(late.body.client_secret).not.toBe(client.client_secret)
    expect((await f.signIn(client)).status).toBe(200)
    expect((await f.signIn(late.body)).status).toBe(200)
    f.clock.advance(86_401)
    expect((await f.signIn(client)).status).toBe(401)
    expect((await f.signIn(late.body)).status).toBe(200)
  })

  test.each([
    ['another id', { client_id: 'registered-x' }, 'invalid_request'],
    ['a secret that it does not have', { client_secret: 'wrong' }, 'invalid_client_metadata'],
    ['metadata that would be refused', { redirect_uris: ['http://app.example.com/'] }, 'invalid_redirect_uri'],
  ])('cannot replace it with %s', async (_, more, error) => {
    const f = await setUp()
    const client = await f.registered()
    expect((await replace(f, client, more)).body.error).toBe(error)
    // The token is still valid, because nothing was changed.
    expect((await read(f, client)).body).toEqual(client)
  })
})

describe('the registration access token', () => {
  test('17.8 is replaced with each change, and the one before ends when the new one is used', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { body: changed } = await replace(f, client)
    expect(changed.registration_access_token).not.toBe(client.registration_access_token)
    expect((await read(f, changed)).status).toBe(200)
    expect((await read(f, client)).status).toBe(401)
    expect((await replace(f, client)).status).toBe(401)
    expect((await read(f, changed)).body).toEqual(changed)
  })

  test('17.8 survives a lost response: the one before gets the same new one again', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { body: lost } = await replace(f, client)
    const { body: again } = await replace(f, client)
    expect(again.registration_access_token).toBe(lost.registration_access_token)
    expect((await read(f, client)).body.registration_access_token).toBe(lost.registration_access_token)
    expect((await replace(f, lost)).status).toBe(200)
    expect((await read(f, client)).status).toBe(401)
  })

  test('17.7 belongs to one client', async () => {
    const f = await setUp()
    const [managed, stranger] = [await f.registered(), await f.registered()]
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, body, headers } = await f.send(managed.registration_client_uri, {
        method,
        token: stranger.registration_access_token,
        ...(method === 'PUT' && { body: { ...metadata, client_id: managed.client_id } }),
      })
      expect([status, body.error]).toEqual([401, 'invalid_token'])
      expect(headers.get('www-authenticate')).toContain('Bearer')
    }
  })

  test('is required: without it, with that of a user, and for a client that does not exist, the response is 401', async () => {
    const f = await setUp()
    const client = await f.registered()
    const { body } = await f.signIn(client)
    const unknown = `${issuer}/connect/register/registered-${'a'.repeat(43)}`
    expect((await f.send(client.registration_client_uri, { method: 'GET' })).status).toBe(401)
    expect((await read(f, client, body.access_token)).status).toBe(401)
    expect((await f.send(unknown, { method: 'GET', token: client.registration_access_token })).status).toBe(401)
    const headers = { authorization: 'Basic YTpi' }
    expect((await f.send(client.registration_client_uri, { method: 'GET', headers })).status).toBe(401)
  })
})

test('17.9 of changes at the same time, one takes place, and the others can be sent again', async () => {
  const storage = new Map<string, string>()
  const slow = mapDriver(storage)
  // Each read waits until all have been sent.
  const f = await setUp({}, { storage: { ...slow, getItem: async (key) => slow.getItem(key) } })
  const client = await f.registered()
  const names = Array.from({ length: 8 }, (_, index) => `Name ${index}`)
  const responses = await Promise.all(names.map((client_name) => replace(f, client, { client_name })))
  const done = responses.filter(({ status }) => status === 200)
  expect(done).toHaveLength(1)
  for (const { status, headers } of responses) {
    if (status !== 200) expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  }
  expect((await read(f, client)).body).toEqual(done[0]?.body)
  const again = await replace(f, client, { client_name: 'Again', redirect_uris: [redirectUri, otherUri] })
  expect(again.body).toMatchObject({
    client_name: 'Again',
    registration_access_token: done[0]?.body.registration_access_token,
  })
})
