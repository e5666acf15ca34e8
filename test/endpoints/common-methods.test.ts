import { type EndpointName, endpointNames } from '@grantry/core'
import { basic, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const getOnly = ['GET', 'HEAD', 'OPTIONS']
const allowed: Record<EndpointName, readonly string[]> = {
  token: ['POST', 'OPTIONS'],
  identityTokenValidation: ['GET', 'HEAD', 'POST', 'OPTIONS'],
  userinfo: ['GET', 'HEAD', 'POST', 'OPTIONS'],
  // No CORS here, so no OPTIONS.
  accessTokenValidation: ['GET', 'HEAD', 'POST'],
  introspection: ['POST'],
  revocation: ['POST', 'OPTIONS'],
  discovery: getOnly,
  authorizationServerMetadata: getOnly,
  jwks: getOnly,
}
const wrong = endpointNames.flatMap((endpoint) =>
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']
    .filter((method) => !allowed[endpoint].includes(method))
    .map((method) => ({ endpoint, method })),
)
const url = 'https://id.example.com/anywhere'

describe('methods', () => {
  test.each(wrong)('1.5 $endpoint rejects $method with 405 and an Allow header', async ({ endpoint, method }) => {
    const { provider, events } = await fixture()
    const { status, headers, body } = await read(await provider.handlers[endpoint](new Request(url, { method })))
    expect(status).toBe(405)
    expect(headers.get('allow')?.split(', ').sort()).toEqual([...allowed[endpoint]].sort())
    expect(headers.get('www-authenticate')).toBeNull()
    const expected = { error: 'invalid_request', error_description: expect.any(String) }
    expect(body).toEqual(method === 'HEAD' ? undefined : expected)
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 405, reason: 'method_not_allowed' })
  })

  test('1.5 checks the method before the credentials and the body', async () => {
    const { provider } = await fixture()
    const headers = { authorization: basic(['absent', 'x']), 'content-type': 'application/json' }
    const response = await provider.handlers.token(new Request(url, { method: 'PUT', headers, body: '{' }))
    expect(response.status).toBe(405)
  })

  test.each(endpointNames.filter((name) => allowed[name].includes('OPTIONS')))(
    '1.6 OPTIONS returns the preflight response at %s',
    async (endpoint) => {
      const { provider } = await fixture()
      const [method = ''] = allowed[endpoint]
      const headers = { origin: 'https://web.example.com', 'access-control-request-method': method }
      const response = await provider.handlers[endpoint](new Request(url, { method: 'OPTIONS', headers }))
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toMatch(/^(?:https:\/\/web\.example\.com|\*)$/u)
      expect(await response.text()).toBe('')
    },
  )

  test.each(endpointNames.filter((name) => !allowed[name].includes('OPTIONS')))(
    '1.6 OPTIONS is a wrong method at %s, which never supports CORS',
    async (endpoint) => {
      const { provider } = await fixture()
      const headers = { origin: 'https://web.example.com', 'access-control-request-method': 'POST' }
      const response = await provider.handlers[endpoint](new Request(url, { method: 'OPTIONS', headers }))
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).not.toContain('OPTIONS')
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    },
  )
})

describe('HEAD', () => {
  test.each([
    'discovery',
    'authorizationServerMetadata',
    'jwks',
    'userinfo',
    'accessTokenValidation',
    'identityTokenValidation',
  ] as const)('1.7 HEAD returns the status and headers of GET without a body at %s', async (endpoint) => {
    const f = await fixture()
    const form = {
      grant_type: 'authorization_code',
      code: await f.code(),
      redirect_uri: 'https://web.example.com/callback',
    }
    const { body: tokens } = await f.post('token', form, web)
    const token: string = endpoint === 'identityTokenValidation' ? tokens.id_token : tokens.access_token
    const query = new URLSearchParams({ token, client_id: web[0] })
    const send = (method: string): Promise<Response> => {
      const headers = { authorization: `Bearer ${token}`, origin: 'https://web.example.com' }
      return f.provider.handlers[endpoint](new Request(`${url}?${query}`, { method, headers }))
    }
    const get = await send('GET')
    const head = await send('HEAD')
    expect(get.status).toBe(200)
    expect(await get.json()).toBeTypeOf('object')
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
    expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers))
  })

  test('1.7 HEAD returns the status of an error without a body', async () => {
    const { provider } = await fixture()
    const response = await provider.handlers.accessTokenValidation(new Request(`${url}?token=x`, { method: 'HEAD' }))
    expect(response.status).toBe(400)
    expect(await response.text()).toBe('')
  })
})
