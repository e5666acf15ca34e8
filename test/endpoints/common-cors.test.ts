import type { EndpointName } from '@grantry/core'
import { basic } from '@grantry/core/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, fixture, redirectUri, web } from '../support/fixture.ts'

const url = 'https://id.example.com/x'
const webOrigin = 'https://web.example.com'
const spaOrigin = 'https://spa.example.com'
const withCors: readonly EndpointName[] = [
  'token',
  'userinfo',
  'identityTokenValidation',
  'discovery',
  'authorizationServerMetadata',
  'jwks',
]

const preflight = (origin: string, method = 'POST'): Request =>
  new Request(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } })

const tokenRequest = (origin: string, credentials: readonly [string, string] = web): Request =>
  new Request(url, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
    headers: { origin, authorization: basic(credentials) },
  })

const allowedOrigin = ({ headers }: Response): string | null => headers.get('access-control-allow-origin')

describe('which origins', () => {
  test.each([
    'https://evil.example.net',
    'null',
    'http://web.example.com',
    'https://web.example.com:8443',
    'https://web.example.com.evil.net',
    'https://sub.web.example.com',
    'https://WEB.example.com',
    'https://web.example.com/',
    '*',
    '',
  ])('1.22 the origin "%s", which no client lists, may not read', async (origin) => {
    const { provider } = await fixture()
    for (const endpoint of withCors) {
      const get = await provider.handlers[endpoint](new Request(url, { headers: { origin } }))
      expect(allowedOrigin(get), endpoint).toBeNull()
      const asked = await provider.handlers[endpoint](preflight(origin))
      expect(asked.status).toBe(204)
      expect([...asked.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
    expect(allowedOrigin(await provider.handlers.token(tokenRequest(origin)))).toBeNull()
  })

  test('1.22 the origin of a client reads the answers to that client', async () => {
    const { provider } = await fixture()
    const response = await provider.handlers.token(tokenRequest(webOrigin))
    expect(response.status).toBe(200)
    expect(allowedOrigin(response)).toBe(webOrigin)
  })

  // Attack: a page of one client, with stolen credentials or a token of another, reads what that one is told.
  test('1.22 the origin of one client does not read the answers to another', async () => {
    const f = await fixture()
    const { handlers } = f.provider
    const answer = await handlers.token(tokenRequest(spaOrigin))
    expect(answer.status).toBe(200)
    expect(allowedOrigin(answer)).toBeNull()

    const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { body } = await f.post('token', form, web)
    const headers = { origin: spaOrigin, authorization: `Bearer ${body.access_token}` }
    expect(allowedOrigin(await handlers.userinfo(new Request(url, { headers })))).toBeNull()
    const query = new URLSearchParams({ token: body.id_token, client_id: web[0] })
    const request = new Request(`${url}?${query}`, { headers: { origin: spaOrigin } })
    expect(allowedOrigin(await handlers.identityTokenValidation(request))).toBeNull()
  })

  test('1.22 a page of a client reads why it was refused', async () => {
    const { provider } = await fixture()
    const response = await provider.handlers.token(tokenRequest(webOrigin, ['web', 'wrong']))
    expect(response.status).toBe(401)
    expect(allowedOrigin(response)).toBe(webOrigin)
    expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate')
  })

  test('1.22 the origins of a disabled client count for nothing', async () => {
    const disabled = clients.map((client) => ({ ...client, enabled: client.clientId !== web[0] }))
    const { provider } = await fixture({ clients: disabled })
    expect(allowedOrigin(await provider.handlers.token(preflight(webOrigin)))).toBeNull()
    expect(allowedOrigin(await provider.handlers.token(preflight(spaOrigin)))).toBe(spaOrigin)
  })

  test('1.22 a client store without isOriginAllowed denies until the client is known', async () => {
    const find = (clientId: string) => clients.find((client) => client.clientId === clientId)
    const { provider } = await fixture({ clients: { find } })
    expect(allowedOrigin(await provider.handlers.token(preflight(webOrigin)))).toBeNull()
    expect(allowedOrigin(await provider.handlers.token(tokenRequest(webOrigin)))).toBe(webOrigin)
    expect(allowedOrigin(await provider.handlers.token(tokenRequest(spaOrigin)))).toBeNull()
  })

  test.each(['https://web.example.com/', 'https://web.example.com/app', 'web.example.com', '*', 'null'])(
    '1.22 "%s" is no origin and refused at start',
    async (origin) => {
      const [first, ...rest] = clients
      const listed = [{ ...first, clientId: 'web', allowedCorsOrigins: [origin] }, ...rest]
      await expect(fixture({ clients: listed })).rejects.toThrow(/allowedCorsOrigins\[0\] must be an origin/u)
    },
  )
})

describe('which endpoints', () => {
  test.each(withCors)('1.23 CORS applies at %s, preflight and answer', async (endpoint) => {
    const { provider } = await fixture()
    const asked = await provider.handlers[endpoint](preflight(webOrigin))
    expect(asked.status).toBe(204)
    expect(allowedOrigin(asked)).toBe(webOrigin)
    const methods = asked.headers.get('access-control-allow-methods')?.split(', ')
    expect(methods).toContain(endpoint === 'token' ? 'POST' : 'GET')
    const headers = asked.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(headers).toEqual(expect.arrayContaining(['authorization', 'content-type']))
    const answer = await provider.handlers[endpoint](new Request(url, { headers: { origin: webOrigin } }))
    expect(allowedOrigin(answer)).toBe(webOrigin)
  })

  test.each(['accessTokenValidation', 'introspection'] as const)('1.24 CORS never applies at %s', async (endpoint) => {
    const f = await fixture()
    const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
    const headers = { origin: webOrigin, authorization: basic(api1) }
    const form = new URLSearchParams({ token: body.access_token })
    for (const request of [
      new Request(url, { method: 'POST', body: form, headers }),
      new Request(url, { method: 'POST', headers }),
      preflight(webOrigin),
    ]) {
      const response = await f.provider.handlers[endpoint](request)
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })
})

describe('how', () => {
  test.each(withCors)('1.25 %s echoes the origin, varies with it, and takes no credentials', async (endpoint) => {
    const { provider } = await fixture()
    for (const origin of [webOrigin, spaOrigin]) {
      for (const request of [preflight(origin), new Request(url, { headers: { origin } })]) {
        const response = await provider.handlers[endpoint](request)
        expect(allowedOrigin(response)).toBe(origin)
        expect(response.headers.get('vary')).toBe('Origin')
        expect(response.headers.get('access-control-allow-credentials')).toBeNull()
      }
    }
  })

  // Otherwise a cache gives the answer to one origin, or to none, to another.
  test.each(withCors)('1.25 %s varies with the origin where none was sent or allowed', async (endpoint) => {
    const { provider } = await fixture()
    for (const headers of [{}, { origin: 'https://evil.example.net' }]) {
      const response = await provider.handlers[endpoint](new Request(url, { headers }))
      expect(response.headers.get('vary')).toBe('Origin')
    }
    expect((await provider.handlers[endpoint](preflight('https://evil.example.net'))).headers.get('vary')).toBe(
      'Origin',
    )
  })
})
