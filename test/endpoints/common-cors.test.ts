import type { EndpointName } from '@grantry/core'
import { basic } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, fixture, redirectUri, web } from '../support/fixture.ts'
import {
  allowedOrigin,
  documents,
  permissions,
  preflight,
  spaOrigin,
  tokenRequest,
  url,
  webOrigin,
  withCors,
} from './cors-requests.ts'

describe('allowed origins', () => {
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
  ])('1.22 denies the origin "%s", which no client lists', async (origin) => {
    const { provider } = await fixture()
    for (const endpoint of withCors) {
      const get = await provider.handlers[endpoint](new Request(url, { headers: { origin } }))
      expect(allowedOrigin(get), endpoint).toBeNull()
      const asked = await provider.handlers[endpoint](preflight(origin))
      expect(asked.status).toBe(204)
      expect(permissions(asked)).toEqual([])
    }
    expect(allowedOrigin(await provider.handlers.token(tokenRequest(origin)))).toBeNull()
  })

  test('1.22 the origin of a client may read the responses to that client', async () => {
    const { provider } = await fixture()
    const response = await provider.handlers.token(tokenRequest(webOrigin))
    expect(response.status).toBe(200)
    expect(allowedOrigin(response)).toBe(webOrigin)
  })

  // Attack: a page of one client, with stolen credentials or a token of another client, reads that client's responses.
  test('1.22 the origin of one client may not read the responses to another', async () => {
    const f = await fixture()
    const { handlers } = f.provider
    const response = await handlers.token(tokenRequest(spaOrigin))
    expect(response.status).toBe(200)
    expect(allowedOrigin(response)).toBeNull()

    const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { body } = await f.post('token', form, web)
    const headers = { origin: spaOrigin, authorization: `Bearer ${body.access_token}` }
    expect(allowedOrigin(await handlers.userinfo(new Request(url, { headers })))).toBeNull()
    const query = new URLSearchParams({ token: body.id_token, client_id: web[0] })
    const request = new Request(`${url}?${query}`, { headers: { origin: spaOrigin } })
    expect(allowedOrigin(await handlers.identityTokenValidation(request))).toBeNull()
  })

  test('1.22 a page of a client may read why it was refused', async () => {
    const { provider } = await fixture()
    const response = await provider.handlers.token(tokenRequest(webOrigin, ['web', 'wrong']))
    expect(response.status).toBe(401)
    expect(allowedOrigin(response)).toBe(webOrigin)
    expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate')
  })

  test('1.22 ignores the origins of a disabled client', async () => {
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
    '1.22 rejects "%s", which is not an origin, at start',
    async (origin) => {
      const [first, ...rest] = clients
      const listed = [{ ...first, clientId: 'web', allowedCorsOrigins: [origin] }, ...rest]
      await expect(fixture({ clients: listed })).rejects.toThrow(/allowedCorsOrigins\[0\] must be an origin/u)
    },
  )
})

describe('endpoints with CORS', () => {
  test.each(withCors)('1.23 CORS applies at %s, to preflights and responses', async (endpoint) => {
    const { provider } = await fixture()
    const asked = await provider.handlers[endpoint](preflight(webOrigin))
    expect(asked.status).toBe(204)
    expect(allowedOrigin(asked)).toBe(webOrigin)
    const methods = asked.headers.get('access-control-allow-methods')
    const postOnly = endpoint === 'token' || endpoint === 'revocation'
    expect(methods).toBe(postOnly ? 'POST' : 'GET, POST, HEAD')
    const response = await provider.handlers[endpoint](new Request(url, { headers: { origin: webOrigin } }))
    expect(allowedOrigin(response)).toBe(webOrigin)
  })

  test.each(documents)('1.23 every page may read %s', async (endpoint) => {
    const { provider, events } = await fixture()
    const origins = [webOrigin, 'https://unknown.example.net', 'null']
    for (const headers of [{}, ...origins.map((origin) => ({ origin }))]) {
      const response = await provider.handlers[endpoint](new Request(url, { headers }))
      expect(response.status).toBe(200)
      expect(allowedOrigin(response)).toBe('*')
      expect(response.headers.get('vary')).toBeNull()
    }
    for (const origin of origins) {
      const asked = await provider.handlers[endpoint](
        preflight(origin, 'GET', { 'access-control-request-headers': 'traceparent' }),
      )
      expect(asked.status).toBe(204)
      expect(allowedOrigin(asked)).toBe('*')
      expect(asked.headers.get('access-control-allow-methods')).toBe('GET, HEAD')
      expect(asked.headers.get('access-control-allow-headers')).toBe('traceparent')
      expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
    }
    expect(events.filter(({ type }) => type === 'preflight_refused')).toEqual([])
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
      expect(permissions(response)).toEqual([])
    }
  })
})

describe('headers', () => {
  test.each(withCors)('1.25 %s echoes the origin, varies by it, and allows no credentials', async (endpoint) => {
    const { provider } = await fixture()
    for (const origin of [webOrigin, spaOrigin]) {
      for (const request of [preflight(origin), new Request(url, { headers: { origin } })]) {
        const response = await provider.handlers[endpoint](request)
        expect(allowedOrigin(response)).toBe(origin)
        expect(response.headers.get('vary')).toMatch(/^Origin(?:, |$)/u)
        expect(response.headers.get('access-control-allow-credentials')).toBeNull()
      }
    }
  })

  // Otherwise a cache serves the response for one origin, or for none, to another.
  test.each(withCors)('1.25 %s varies by origin even when none was sent or allowed', async (endpoint) => {
    const { provider } = await fixture()
    for (const headers of [{}, { origin: 'https://evil.example.net' }]) {
      const response = await provider.handlers[endpoint](new Request(url, { headers }))
      expect(response.headers.get('vary')).toBe('Origin')
    }
    for (const origin of ['https://evil.example.net', webOrigin]) {
      const asked = await provider.handlers[endpoint](preflight(origin))
      expect(asked.headers.get('vary')).toBe('Origin, Access-Control-Request-Method, Access-Control-Request-Headers')
    }
  })
})

describe('requested headers of a preflight', () => {
  const allowedHeaders = async (list: string, endpoint: EndpointName = 'token') => {
    const { provider } = await fixture()
    const asked = await provider.handlers[endpoint](
      preflight(webOrigin, 'POST', { 'access-control-request-headers': list }),
    )
    return asked.headers.get('access-control-allow-headers')
  }

  test.each(withCors)('1.94 %s allows each header that a page of an allowed origin requests', async (endpoint) => {
    expect(await allowedHeaders('authorization,baggage,content-type,traceparent', endpoint)).toBe(
      'authorization, baggage, content-type, traceparent',
    )
    expect(await allowedHeaders("X-A, x!#$%&'*+-.^_`|~1", endpoint)).toBe("X-A, x!#$%&'*+-.^_`|~1")
  })

  test('1.94 allows no header when none is requested', async () => {
    const { provider } = await fixture()
    const asked = await provider.handlers.token(preflight(webOrigin))
    expect(allowedOrigin(asked)).toBe(webOrigin)
    expect(asked.headers.get('access-control-allow-headers')).toBeNull()
  })

  test('1.94 a list has at most 50 names and 1024 characters', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}`).join(',')
    expect((await allowedHeaders(names(50)))?.split(', ')).toHaveLength(50)
    expect(await allowedHeaders(names(51))).toBeNull()
    expect(await allowedHeaders('x'.repeat(1024))).toHaveLength(1024)
    expect(await allowedHeaders('x'.repeat(1025))).toBeNull()
  })

  test.each([
    ['an origin that no client lists', 'https://evil.example.net', 'POST', 'traceparent', 'origin_not_allowed'],
    ['a method that the endpoint does not have', webOrigin, 'DELETE', 'traceparent', 'method_not_allowed'],
    ['a space in a header name', webOrigin, 'POST', 'x y', 'headers_malformed'],
    ['a quotation mark in a header name', webOrigin, 'POST', 'x, "y"', 'headers_malformed'],
    ['an empty header name', webOrigin, 'POST', 'x,,y', 'headers_malformed'],
    ['a header name beyond ASCII', webOrigin, 'POST', 'x-\u00e9', 'headers_malformed'],
  ])('1.95 %s: is denied, with an event that has the reason', async (_, origin, method, list, reason) => {
    const { provider, events } = await fixture()
    const request = preflight(origin, method, { 'access-control-request-headers': list })
    const asked = await provider.handlers.token(request)
    expect(asked.status).toBe(204)
    expect(permissions(asked)).toEqual([])
    expect(events.filter(({ type }) => type === 'preflight_refused')).toEqual([
      expect.objectContaining({ endpoint: 'token', reason, origin }),
    ])
  })

  test('1.95 a preflight without an origin is denied, with an event that has the reason', async () => {
    const { provider, events } = await fixture()
    const headers = { 'access-control-request-method': 'POST' }
    const asked = await provider.handlers.token(new Request(url, { method: 'OPTIONS', headers }))
    expect(permissions(asked)).toEqual([])
    expect(events).toContainEqual(expect.objectContaining({ type: 'preflight_refused', reason: 'origin_missing' }))
  })

  test.each(['null', 'any text', `https://${'a'.repeat(300)}.example`, 'https://a.example/path?token=x'])(
    '1.95 an event does not repeat a text that is not a well-formed origin: %s',
    async (origin) => {
      const { provider, events } = await fixture()
      await provider.handlers.token(preflight(origin))
      const refused = events.find(({ type }) => type === 'preflight_refused')
      expect(refused).toMatchObject({ reason: 'origin_not_allowed' })
      expect(refused).not.toHaveProperty('origin')
    },
  )
})
