import { describe, expect, test } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { createBound, presenting } from './bound.ts'
import { audience, createIssuer, keyNamed, sign, start, url } from './issuer.ts'

// RFC 9728 section 5.1.

const key = await keyNamed('one')
const resource = `${audience}/mcp`
const parameter = `resource_metadata="${audience}/.well-known/oauth-protected-resource/mcp"`

describe('each challenge of an API with an identifier names its metadata document', () => {
  test.each([
    ['without a token', undefined, 401],
    ['with a malformed header', 'Bearer', 400],
    ['with an expired token', { exp: start - 60 }, 401],
    ['with a token for another API', { aud: 'https://other.example' }, 401],
    ['with a token that lacks a scope', { scope: 'write' }, 403],
    ['with a token of an old authentication', { auth_time: 1 }, 401],
  ])('%s', async (_, claims, status) => {
    const { options } = await createIssuer()
    const api = createResourceServer({ ...options, resource })
    const authorization = typeof claims === 'object' ? `Bearer ${await sign(key, claims)}` : claims
    const request = new Request(url, { headers: authorization === undefined ? {} : { authorization } })
    const { response } = await api.authorize(request, { scopes: 'read', maxAge: 60 })
    expect(response?.status).toBe(status)
    expect(response?.headers.get('www-authenticate')).toContain('scope="read"')
    expect(response?.headers.get('www-authenticate')).toContain(parameter)
    expect(response?.headers.get('access-control-expose-headers')).toBe('WWW-Authenticate, DPoP-Nonce')
  })

  // The MCP SDK 1 reads the first challenge only if it is of Bearer, SDK 2 also DPoP.
  test('for each scheme, Bearer first', async () => {
    const { test: t, token } = await createBound()
    const api = createResourceServer({ ...t.options, resource, dpop: { baseUrl: audience } })
    const { response } = await api.authorize(presenting(token, undefined))
    const header = response?.headers.get('www-authenticate') ?? ''
    expect(header.startsWith('Bearer resource_metadata=')).toBe(true)
    expect(header.split(', DPoP ').map((challenge) => challenge.includes(parameter))).toEqual([true, true])
  })

  test('but not an outage, which another token would not end', async () => {
    const { options } = await createIssuer()
    const api = createResourceServer({ ...options, resource, fetch: async () => new Response(null, { status: 502 }) })
    const request = new Request(url, { headers: { authorization: `Bearer ${await sign(key)}` } })
    const { response } = await api.authorize(request)
    expect([response?.status, response?.headers.has('www-authenticate')]).toEqual([503, false])
  })
})

test('an API without an identifier names none', async () => {
  const { options } = await createIssuer()
  const { response } = await createResourceServer(options).authorize(new Request(url))
  expect(response?.headers.get('www-authenticate')).toBe('Bearer')
  expect(response?.headers.has('access-control-expose-headers')).toBe(false)
})
