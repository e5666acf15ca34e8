import type { EndpointName } from '@grantry/core'
import { basic } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const url = 'https://id.example.com/x'
const connect: readonly EndpointName[] = [
  'token',
  'identityTokenValidation',
  'userinfo',
  'accessTokenValidation',
  'introspection',
]

function expectNoStore({ headers }: Response): void {
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
}

const post = (form: Record<string, string>, authorization?: string): Request =>
  new Request(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    ...(authorization !== undefined && { headers: { authorization } }),
  })

async function tokens(f: Fixture): Promise<{ access_token: string; id_token: string }> {
  const code = await f.code()
  return (await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)).body
}

describe('responses that must not be cached', () => {
  test('1.15 successful responses of connect endpoints are not cacheable', async () => {
    const f = await fixture()
    const { access_token, id_token } = await tokens(f)
    const grant = { grant_type: 'client_credentials', scope: 'api1' }
    const requests: readonly [EndpointName, Request][] = [
      ['token', post(grant, basic(web))],
      ['identityTokenValidation', post({ token: id_token, client_id: web[0] })],
      ['identityTokenValidation', new Request(`${url}?${new URLSearchParams({ token: id_token, client_id: web[0] })}`)],
      ['userinfo', new Request(url, { headers: { authorization: `Bearer ${access_token}` } })],
      ['accessTokenValidation', post({ token: access_token })],
      ['accessTokenValidation', new Request(`${url}?${new URLSearchParams({ token: access_token })}`)],
      ['introspection', post({ token: access_token }, basic(api1))],
      ['introspection', post({ token: 'unknown' }, basic(api1))],
    ]
    for (const [endpoint, request] of requests) {
      const response = await f.provider.handlers[endpoint](request)
      expect(response.status, endpoint).toBe(200)
      expectNoStore(response)
    }
  })

  test.each(connect)('1.15 error responses of %s are not cacheable', async (endpoint) => {
    const { provider } = await fixture()
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const requests = [
      new Request(url, { method: 'PUT' }),
      new Request(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
      new Request(url, { method: 'POST', body: 'x'.repeat(70_000), headers: form }),
      new Request(url, { method: 'POST', body: 'a=%zz', headers: form }),
      post({ token: 'x', client_id: 'web', grant_type: 'x' }),
      new Request(url),
    ]
    for (const request of requests) {
      const response = await provider.handlers[endpoint](request)
      expect(response.status).toBeGreaterThanOrEqual(400)
      expectNoStore(response)
    }
  })

  test.each(connect)('1.15 the 404 of %s is not cacheable when it is disabled', async (endpoint) => {
    const { provider } = await fixture({ endpoints: { [endpoint]: false } })
    expectNoStore(await provider.handlers[endpoint](new Request(url)))
  })

  test('1.15 a server_error response is not cacheable', async () => {
    const users = {
      authenticate: () => {
        throw new Error('out of order')
      },
    }
    const f = await fixture({ users })
    const form = { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1' }
    const response = await f.provider.handlers.token(post(form, basic(web)))
    expect(response.status).toBe(500)
    expectNoStore(response)
  })

  test.each(['token', 'identityTokenValidation', 'userinfo'] as const)(
    '1.15 the preflight response of %s is not cacheable',
    async (endpoint) => {
      const { provider } = await fixture()
      const headers = { origin: 'https://web.example.com', 'access-control-request-method': 'POST' }
      const response = await provider.handlers[endpoint](new Request(url, { method: 'OPTIONS', headers }))
      expect(response.status).toBe(204)
      expectNoStore(response)
    },
  )
})

describe('responses that may be cached', () => {
  test.each(['discovery', 'authorizationServerMetadata', 'jwks'] as const)('1.16 %s is cacheable', async (endpoint) => {
    const { provider } = await fixture()
    const { status, headers } = await provider.handlers[endpoint](new Request(url))
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toMatch(/^public, max-age=[1-9][0-9]*$/u)
    expect(headers.get('pragma')).toBeNull()
  })

  test.each(['discovery', 'authorizationServerMetadata', 'jwks'] as const)(
    '1.16 an error response of %s is not cacheable',
    async (endpoint) => {
      const { provider } = await fixture()
      expectNoStore(await provider.handlers[endpoint](new Request(url, { method: 'DELETE' })))
    },
  )
})
