import { type EndpointName, endpointNames, OAuthError, type OAuthErrorCode } from '@grantry/core'
import { basic, createTestProvider, type TestResponse, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api2, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const url = 'https://id.example.com/x'
const post = (form: Record<string, string>, authorization?: string): Request =>
  new Request(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    ...(authorization !== undefined && { headers: { authorization } }),
  })

/** Returns the response to a plugin's grant that refuses the request with these options. */
async function refusal(code: OAuthErrorCode, description = 'No'): Promise<TestResponse> {
  const grant = testGrant({
    grantType: 'refusing',
    handle: () => {
      throw new OAuthError(code, description, { reason: 'plugin:refusing:test' })
    },
  })
  const { post } = await createTestProvider({ plugins: [grant] })
  return post('token', { grant_type: 'refusing', scope: 'api1' }, testClient)
}

describe('headers of every response', () => {
  test.each(endpointNames)('1.17 %s sends nosniff', async (endpoint) => {
    const { provider } = await fixture()
    for (const method of ['GET', 'POST', 'PUT', 'HEAD']) {
      const { headers } = await provider.handlers[endpoint](new Request(url, { method }))
      expect(headers.get('x-content-type-options'), method).toBe('nosniff')
    }
  })

  test.each(['token', 'identityTokenValidation', 'userinfo', 'discovery', 'jwks'] as const)(
    '1.17 the preflight of %s sends nosniff',
    async (endpoint) => {
      const { provider } = await fixture()
      const headers = { origin: 'https://web.example.com', 'access-control-request-method': 'POST' }
      const response = await provider.handlers[endpoint](new Request(url, { method: 'OPTIONS', headers }))
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  test.each(endpointNames)('1.18 JSON of %s is application/json', async (endpoint) => {
    const { provider } = await fixture()
    const refused = await provider.handlers[endpoint](new Request(url, { method: 'DELETE' }))
    expect(refused.headers.get('content-type')).toBe('application/json')
    expect(await refused.json()).toHaveProperty('error', 'invalid_request')
  })

  test('1.18 JSON of a successful response is application/json', async () => {
    const { provider } = await fixture()
    const requests: readonly [EndpointName, Request][] = [
      ['token', post({ grant_type: 'client_credentials', scope: 'api1' }, basic(web))],
      ['introspection', post({ token: 'x' }, basic(api2))],
      ['discovery', new Request(url)],
      ['authorizationServerMetadata', new Request(url)],
      ['jwks', new Request(url)],
    ]
    for (const [endpoint, request] of requests) {
      const response = await provider.handlers[endpoint](request)
      expect(response.status, endpoint).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
    }
  })
})

describe('401', () => {
  test.each(['token', 'introspection'] as const)('1.19 a 401 of %s challenges for Basic', async (endpoint) => {
    const { provider } = await fixture()
    const { status, headers } = await provider.handlers[endpoint](post({ token: 'x' }, basic(['web', 'wrong'])))
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
  })

  test.each([undefined, 'Bearer', 'Bearer unknown', 'Basic eDp5', 'Bearer a b'])(
    '1.19 a 401 of userinfo challenges for Bearer: %s',
    async (authorization) => {
      const { provider } = await fixture()
      const request = new Request(url, authorization === undefined ? {} : { headers: { authorization } })
      const { status, headers } = await provider.handlers.userinfo(request)
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="https:\/\/id\.example\.com"/u)
    },
  )

  test('1.19 the 401 for an unrelated scope has a challenge', async () => {
    const f = await fixture({ introspection: { unrelatedScope: 'unauthorized' } })
    const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
    const { status, headers } = await f.post('introspection', { token: body.access_token }, api2)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
  })

  test('1.19 a 401 that a plugin requests has a challenge', async () => {
    const { status, headers } = await refusal('invalid_client')
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
  })

  test.each(['invalid_grant', 'access_denied', 'authorization_pending', 'temporarily_unavailable'] as const)(
    '1.19 other error responses have no challenge: %s',
    async (code) => {
      const { status, headers, body } = await refusal(code)
      expect(status).toBe(code === 'temporarily_unavailable' ? 503 : 400)
      expect(body.error).toBe(code)
      expect(headers.get('www-authenticate')).toBeNull()
    },
  )

  // RFC 6749 section 5.2: error_description has %x20-21 / %x23-5B / %x5D-7E only.
  test('strips characters that RFC 6749 does not allow from the description of a plugin', async () => {
    const { body } = await refusal('invalid_grant', 'Say "no"\r\nX-Evil: 1\\ \u{1F511} café')
    expect(body.error_description).toBe('Say noX-Evil: 1  caf')
  })
})
