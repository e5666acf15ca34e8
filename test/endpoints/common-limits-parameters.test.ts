import type { UserCredentials } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, redirectUri, scopes, web } from '../support/fixture.ts'

const x = (length: number): string => 'x'.repeat(length)

describe('scope: 1000', () => {
  const names = [x(249), `${x(248)}y`, `${x(248)}z`, x(250), x(251)]
  const [a = '', b = '', c = '', d = '', e = ''] = names
  const provider = (): Promise<Fixture> =>
    fixture({
      scopes: [...scopes, ...names.map((name) => ({ name }))],
      clients: [{ ...clients[0], clientId: web[0], scopes: names }],
    })

  test('1.30 accepts a scope of 1000', async () => {
    const scope = [a, b, c, d].join(' ')
    expect(scope).toHaveLength(1000)
    const { status, body } = await (await provider()).post('token', { grant_type: 'client_credentials', scope }, web)
    expect(status).toBe(200)
    expect(body.scope).toBe(scope)
  })

  test('1.30 rejects a scope of 1001', async () => {
    const scope = [a, b, c, e].join(' ')
    expect(scope).toHaveLength(1001)
    const f = await provider()
    const { status, body } = await f.post('token', { grant_type: 'client_credentials', scope }, web)
    expect([status, body.error]).toEqual([400, 'invalid_scope'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'scope_too_long' })
  })

  test('1.30 repetitions count: rejects 1001 characters of one scope', async () => {
    const f = await provider()
    const { body } = await f.post('token', { grant_type: 'client_credentials', scope: [a, a, a, e].join(' ') }, web)
    expect(body.error).toBe('invalid_scope')
  })
})

describe('redirect_uri: 2000', () => {
  const uri = (length: number): string => `${redirectUri}?x=`.padEnd(length, 'x')

  test('1.31 accepts a redirect_uri of 2000', async () => {
    const f = await fixture({ clients: [{ ...clients[0], clientId: web[0], redirectUris: [uri(2000)] }] })
    const code = await f.code({ redirectUri: uri(2000) })
    const form = { grant_type: 'authorization_code', code, redirect_uri: uri(2000) }
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test('1.31 a redirect_uri of 2001 is rejected as malformed and does not spend the code', async () => {
    const f = await fixture()
    const form = { grant_type: 'authorization_code', code: await f.code() }
    const { status, body } = await f.post('token', { ...form, redirect_uri: uri(2001) }, web)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'parameter_malformed' })
    expect((await f.post('token', { ...form, redirect_uri: redirectUri }, web)).status).toBe(200)
  })

  test('1.31 rejects a client with a redirect URI of 2001 at start', async () => {
    const start = fixture({ clients: [{ ...clients[0], clientId: web[0], redirectUris: [uri(2001)] }] })
    await expect(start).rejects.toThrow('redirectUris[0] must be an absolute URI such as')
  })
})

describe('parameters of the password grant', () => {
  async function send(field: string, value: string) {
    const seen: UserCredentials[] = []
    const f = await fixture({
      users: {
        authenticate: (credentials) => {
          seen.push(credentials)
          return { sub: '1' }
        },
      },
    })
    const form = { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1', [field]: value }
    return { response: await f.post('token', form, web), seen, events: f.events }
  }

  test('1.33 accepts a username of 256', async () => {
    const { response, seen } = await send('username', x(256))
    expect(response.status).toBe(200)
    expect(seen).toMatchObject([{ username: x(256) }])
  })

  test('1.34 accepts a password of 1024', async () => {
    const { response, seen } = await send('password', x(1024))
    expect(response.status).toBe(200)
    expect(seen).toMatchObject([{ password: x(1024) }])
  })

  test('1.35 accepts acr_values of 300', async () => {
    const { response, seen } = await send('acr_values', x(300))
    expect(response.status).toBe(200)
    expect(seen).toMatchObject([{ acrValues: [x(300)] }])
  })

  test('1.33 rejects a username of 257 before calling the user service', async () => {
    const { response, seen, events } = await send('username', x(257))
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request'])
    expect(events.at(-1)).toMatchObject({ reason: 'parameter_malformed' })
    expect(seen).toEqual([])
  })

  test('1.34 rejects a password of 1025 before calling the user service', async () => {
    const { response, seen, events } = await send('password', x(1025))
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request'])
    expect(events.at(-1)).toMatchObject({ reason: 'parameter_malformed' })
    expect(seen).toEqual([])
  })

  test('1.35 rejects acr_values of 301 before calling the user service', async () => {
    const { response, seen, events } = await send('acr_values', x(301))
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request'])
    expect(events.at(-1)).toMatchObject({ reason: 'parameter_malformed' })
    expect(seen).toEqual([])
  })
})
