import { basic } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { formats, tokenOfAlice } from '../support/access-token.ts'
import { type Fixture, fixture, web } from '../support/fixture.ts'

const endpoint = 'https://id.example.com/connect/userinfo'
const realm = 'Bearer realm="https://id.example.com"'

const accessToken = (f: Fixture, client: typeof web = web, scope = 'openid profile') => tokenOfAlice(f, client, scope)

const send = (f: Fixture, init: RequestInit, query = ''): Promise<Response> =>
  f.provider.fetch(new Request(`${endpoint}${query}`, init))

const alice = { sub: '1', name: 'Alice Smith', given_name: 'Alice', family_name: 'Smith' }

async function expectRefused(
  response: Response,
  status: number,
  error: string,
  description: string,
  more = '',
): Promise<void> {
  expect(response.status).toBe(status)
  expect(await response.json()).toEqual({ error, error_description: description })
  expect(response.headers.get('www-authenticate')).toBe(
    `${realm}, error="${error}", error_description="${description}"${more}`,
  )
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('cache-control')).toBe('no-store')
}

describe('presenting the token', () => {
  test.each(formats)('5.1 GET responds to the bearer of a %s', async (_, client) => {
    const f = await fixture()
    const response = await send(f, { headers: { authorization: `Bearer ${await accessToken(f, client)}` } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual(alice)
  })

  test.each(formats)('5.1 POST responds to the bearer of a %s in the header, without a body', async (_, client) => {
    const f = await fixture()
    const authorization = `Bearer ${await accessToken(f, client)}`
    const response = await send(f, { method: 'POST', headers: { authorization } })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(alice)
  })

  test('5.1 HEAD returns the status of GET without a body', async () => {
    const f = await fixture()
    const head = (token: string) => send(f, { method: 'HEAD', headers: { authorization: `Bearer ${token}` } })
    const accepted = await head(await accessToken(f))
    expect([accepted.status, await accepted.text()]).toEqual([200, ''])
    const refused = await head('x')
    expect([refused.status, await refused.text()]).toEqual([401, ''])
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test('5.1 another method is 405', async () => {
    const response = await send(await fixture(), { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
  })

  test.each(['bearer', 'BEARER', 'bEaReR'])('5.2 the scheme is case-insensitive (%s)', async (scheme) => {
    const f = await fixture()
    const response = await send(f, { headers: { authorization: `${scheme} ${await accessToken(f)}` } })
    expect(response.status).toBe(200)
  })

  test.each([
    ['two spaces inside', (token: string) => `Bearer ${token}  x`],
    ['a tab', (token: string) => `Bearer\t${token}`],
    ['no token', () => 'Bearer'],
    ['a comma-separated list', (token: string) => `Bearer ${token}, Bearer ${token}`],
    ['a second word', (token: string) => `Bearer ${token} x`],
    ['quotes', (token: string) => `Bearer "${token}"`],
  ])('5.2 spaces and one token: %s is invalid_token', async (_, authorization) => {
    const f = await fixture()
    const response = await send(f, { headers: { authorization: authorization(await accessToken(f)) } })
    await expectRefused(response, 401, 'invalid_token', 'The access token is not valid')
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'malformed_authorization' })
  })

  test.each(formats)('5.3 POST reads a %s from the form', async (_, client) => {
    const f = await fixture()
    const response = await f.post('userinfo', { access_token: await accessToken(f, client) })
    expect(response.status).toBe(200)
    expect(response.body).toEqual(alice)
  })

  test('5.4 rejects a token in both the header and the form, even the same one', async () => {
    const f = await fixture()
    const token = await accessToken(f)
    for (const inForm of [token, 'another']) {
      const response = await send(f, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ access_token: inForm }),
      })
      await expectRefused(
        response,
        400,
        'invalid_request',
        'The access token is sent both in the header and in the form',
      )
    }
  })

  test('5.4 an empty access_token in the form counts as omitted', async () => {
    const f = await fixture()
    const headers = { authorization: `Bearer ${await accessToken(f)}` }
    const response = await send(f, { method: 'POST', headers, body: new URLSearchParams({ access_token: '' }) })
    expect(response.status).toBe(200)
  })

  test('5.5 ignores a token in the query, on GET and on POST', async () => {
    const f = await fixture()
    const query = `?access_token=${await accessToken(f)}`
    const form = { method: 'POST', body: new URLSearchParams({ x: 'y' }) }
    for (const response of [await send(f, {}, query), await send(f, form, query)]) {
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(realm)
    }
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'token_missing' })
  })

  test('5.5 ignores a token in the query beside one in the header too', async () => {
    const f = await fixture()
    const headers = { authorization: `Bearer ${await accessToken(f)}` }
    const response = await send(f, { headers }, '?access_token=x')
    expect(response.status).toBe(200)
  })
})

describe('errors', () => {
  test('5.6 without credentials: 401, and the challenge has no error', async () => {
    const f = await fixture()
    const empty = new URLSearchParams({ access_token: '' })
    for (const response of [await send(f, {}), await send(f, { method: 'POST', body: empty })]) {
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(realm)
      expect(await response.text()).not.toContain('invalid')
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })

  // RFC 6750 section 3.1: an authentication method that is not supported counts as no authentication information.
  test.each([
    ['an unknown scheme', () => 'Foo Bar'],
    ['Basic', () => basic(web)],
    ['DPoP', (token: string) => `DPoP ${token}`],
    ['a scheme that only starts with Bearer', (token: string) => `Bearer${token}`],
    ['the token without a scheme', (token: string) => token],
    ['an empty value', () => ''],
  ])('5.6 an unsupported scheme counts as no credentials: %s', async (_, authorization) => {
    const f = await fixture()
    const headers = { authorization: authorization(await accessToken(f)) }
    for (const method of ['GET', 'POST']) {
      const response = await send(f, { method, headers })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(realm)
      expect(await response.text()).toBe('')
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'authorization_scheme_unsupported' })
    }
  })

  test('5.6 a POST without credentials needs neither a body nor a media type', async () => {
    const f = await fixture()
    for (const init of [{}, { headers: { 'content-length': '0' } }, { body: new Uint8Array() }]) {
      const response = await send(f, { method: 'POST', ...init })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(realm)
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'token_missing' })
    }
  })

  test('5.9 an error is in the header and in the body, with the same text', async () => {
    const f = await fixture()
    const response = await send(f, { headers: { authorization: 'Bearer x' } })
    await expectRefused(response, 401, 'invalid_token', 'The access token is not valid')
  })

  test.each(formats)('5.8 a %s without openid: 403 insufficient_scope', async (_, client) => {
    const f = await fixture()
    const token = await accessToken(f, client, 'profile api1')
    const response = await send(f, { headers: { authorization: `Bearer ${token}` } })
    const description = 'The access token must have the scope openid'
    await expectRefused(response, 403, 'insufficient_scope', description, ', scope="openid"')
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'openid_missing', clientId: client[0] })
  })

  test.each(formats)('5.8 a client-only %s has no openid', async (_, client) => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const token = (await f.post('token', form, client)).body.access_token
    const response = await send(f, { headers: { authorization: `Bearer ${token}` } })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: 'insufficient_scope' })
  })
})
