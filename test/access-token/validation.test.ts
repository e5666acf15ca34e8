import { describe, expect, test } from 'vitest'
import { formats, tokenOfAlice } from '../support/access-token.ts'
import { type Fixture, fixture, web } from '../support/fixture.ts'

const endpoint = 'https://id.example.com/connect/accesstokenvalidation'

const accessToken = (f: Fixture, client: typeof web, scope = 'openid api1 api2') => tokenOfAlice(f, client, scope)

const claimsAt = (now: number, clientId: string) => ({
  iss: 'https://id.example.com',
  aud: 'https://api1.example.com',
  iat: now,
  nbf: now,
  exp: now + 3600,
  jti: expect.stringMatching(/^[\w-]{22}$/u),
  client_id: clientId,
  scope: 'openid api1 api2',
  sub: '1',
  auth_time: now,
  idp: 'local',
  amr: ['pwd'],
})

describe.each(formats)('a valid %s', (_, client) => {
  test('6.1 POST reads token from the form', async () => {
    const f = await fixture()
    const reply = await f.post('accessTokenValidation', { token: await accessToken(f, client) })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.body).toEqual(claimsAt(f.clock.now(), client[0]))
  })

  test('6.1 GET reads token from the query', async () => {
    const f = await fixture()
    const reply = await f.get('accessTokenValidation', { token: await accessToken(f, client) })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.body).toEqual(claimsAt(f.clock.now(), client[0]))
  })

  test('6.1 HEAD returns the status of GET without a body', async () => {
    const f = await fixture()
    const head = (token: string) => f.provider.fetch(new Request(`${endpoint}?token=${token}`, { method: 'HEAD' }))
    const accepted = await head(await accessToken(f, client))
    expect([accepted.status, await accepted.text()]).toEqual([200, ''])
    const refused = await head('x')
    expect([refused.status, await refused.text()]).toEqual([400, ''])
  })

  test('6.7 returns every claim with its JSON type: times are numbers, scope is one string, amr an array', async () => {
    const f = await fixture()
    const { body } = await f.post('accessTokenValidation', { token: await accessToken(f, client) })
    for (const name of ['exp', 'iat', 'nbf', 'auth_time']) expect(body[name]).toBeTypeOf('number')
    expect(body.scope).toBe('openid api1 api2')
    expect(body.amr).toEqual(['pwd'])
  })

  test('6.7 a client-only token has no sub', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api2' }
    const token = (await f.post('token', form, client)).body.access_token
    const reply = await f.post('accessTokenValidation', { token })
    expect(reply.status).toBe(200)
    const now = f.clock.now()
    expect(reply.body).toEqual({
      iss: 'https://id.example.com',
      aud: 'https://id.example.com/resources',
      iat: now,
      nbf: now,
      exp: now + 3600,
      jti: expect.any(String),
      client_id: client[0],
      scope: 'api2',
    })
  })

  test('6.2 accepts a token that holds expectedScope', async () => {
    const f = await fixture()
    const token = await accessToken(f, client)
    for (const expectedScope of ['openid', 'api1', 'api2', '']) {
      expect((await f.post('accessTokenValidation', { token, expectedScope })).status).toBe(200)
      expect((await f.get('accessTokenValidation', { token, expectedScope })).status).toBe(200)
    }
  })

  test.each(['profile', 'API1', 'api', 'api1 api2', 'openid api1', ' api1', 'unknown'])(
    '6.6 an expectedScope that the token lacks is insufficient_scope (%s)',
    async (expectedScope) => {
      const f = await fixture()
      const token = await accessToken(f, client)
      for (const reply of [
        await f.post('accessTokenValidation', { token, expectedScope }),
        await f.get('accessTokenValidation', { token, expectedScope }),
      ]) {
        expect(reply.status).toBe(400)
        expect(reply.body).toEqual({
          error: 'insufficient_scope',
          error_description: 'The access token does not have the expected scope',
        })
        expect(reply.headers.get('cache-control')).toBe('no-store')
      }
      const reason = 'expected_scope_missing'
      expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', tokenType: 'access_token', reason })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason, clientId: client[0], sub: '1' })
    },
  )

  test('6.6 validates the token before expectedScope', async () => {
    const f = await fixture()
    const token = await accessToken(f, client)
    f.clock.advance(3600)
    const reply = await f.post('accessTokenValidation', { token, expectedScope: 'unknown' })
    expect([reply.status, reply.body.error]).toEqual([400, 'invalid_token'])
  })
})

test('6.3 ignores credentials: the endpoint authenticates no caller', async () => {
  const f = await fixture()
  const token = await accessToken(f, web)
  const withHeader = await f.post('accessTokenValidation', { token }, ['absent', 'nothing'])
  expect(withHeader.status).toBe(200)
  const inForm = await f.post('accessTokenValidation', { token, client_id: 'absent', client_secret: 'nothing' })
  expect(inForm.status).toBe(200)
})

test('no page of another origin can read the response, not even a page of a client', async () => {
  const f = await fixture()
  const headers = { origin: 'https://web.example.com' }
  const reply = await f.get('accessTokenValidation', { token: await accessToken(f, web) }, headers)
  expect(reply.status).toBe(200)
  expect(reply.headers.has('access-control-allow-origin')).toBe(false)
  const preflight = { ...headers, 'access-control-request-method': 'POST' }
  const response = await f.provider.fetch(new Request(endpoint, { method: 'OPTIONS', headers: preflight }))
  expect(response.status).toBe(405)
  expect(response.headers.has('access-control-allow-origin')).toBe(false)
})

describe('parameters', () => {
  test.each([
    ['missing', {}],
    ['empty', { token: '' }],
    ['under another name', { access_token: 'x', Token: 'x' }],
  ] as readonly (readonly [string, Record<string, string>])[])(
    '6.4 a token that is %s is invalid_request',
    async (_, parameters) => {
      const f = await fixture()
      for (const reply of [
        await f.post('accessTokenValidation', parameters),
        await f.get('accessTokenValidation', parameters),
      ]) {
        expect(reply.status).toBe(400)
        expect(reply.body).toEqual({
          error: 'invalid_request',
          error_description: 'The parameter token is required',
        })
      }
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'parameter_missing' })
    },
  )

  test('6.1 does not fill up a form from the query or a header', async () => {
    const f = await fixture()
    const token = await accessToken(f, web)
    const response = await f.provider.fetch(
      new Request(`${endpoint}?token=${token}`, {
        method: 'POST',
        body: new URLSearchParams({ expectedScope: 'api1' }),
        headers: { authorization: `Bearer ${token}` },
      }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
  })

  test('6.1 another method is 405, and Allow lists the methods', async () => {
    const f = await fixture()
    const response = await f.provider.fetch(new Request(endpoint, { method: 'PUT', body: 'x' }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST'])
  })
})

describe('on by default', () => {
  test('6.8 it works, and a start says nothing about it', async () => {
    const f = await fixture()
    expect(f.events).toEqual([])
    const token = await accessToken(f, web)
    expect((await f.post('accessTokenValidation', { token })).status).toBe(200)
  })

  test('6.8 disabled, it is 404', async () => {
    const f = await fixture({ endpoints: { accessTokenValidation: false } })
    const token = await accessToken(f, web)
    expect((await f.post('accessTokenValidation', { token })).status).toBe(404)
    const form = { method: 'POST', body: new URLSearchParams({ token }) }
    expect((await f.provider.fetch(new Request(endpoint, form))).status).toBe(404)
    expect(f.provider.metadata).not.toHaveProperty('access_token_validation_endpoint')
  })
})
