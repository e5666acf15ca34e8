import type { EndpointName } from '@grantry/core'
import { read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture } from '../support/fixture.ts'

const paths = [
  ['token', '/connect/token'],
  ['identityTokenValidation', '/connect/identitytokenvalidation'],
  ['userinfo', '/connect/userinfo'],
  ['accessTokenValidation', '/connect/accesstokenvalidation'],
  ['introspection', '/connect/introspect'],
  ['discovery', '/.well-known/openid-configuration'],
  ['authorizationServerMetadata', '/.well-known/oauth-authorization-server'],
  ['jwks', '/.well-known/jwks'],
] as const

/** No endpoint accepts PUT: 405 means that an endpoint exists, 404 that none does. */
const probe = async ({ provider }: Fixture, path: string): Promise<number> =>
  (await provider.fetch(new Request(`https://id.example.com${path}`, { method: 'PUT' }))).status

const withPath = 'https://id.example.com/tenants/one'

describe('paths of the endpoints', () => {
  test.each(paths)('1.1 the endpoint %s is at %s', async (_, path) => {
    expect(await probe(await fixture(), path)).toBe(405)
  })

  test.each(paths.filter(([name]) => name !== 'authorizationServerMetadata'))(
    '1.1 the endpoint %s moves below the path of the issuer',
    async (_, path) => {
      const f = await fixture({ issuer: withPath })
      expect(await probe(f, `/tenants/one${path}`)).toBe(405)
      expect(await probe(f, path)).toBe(404)
    },
  )

  test.each([
    '/',
    '/connect',
    '/connect/',
    '/connect/token/',
    '/connect/Token',
    '//connect/token',
    '/connect/token/x',
    '/x/connect/token',
    '/connect/token;a=b',
  ])('1.1 %s is not an endpoint', async (path) => {
    const { provider } = await fixture()
    const { status, body, headers } = await read(await provider.fetch(new Request(`https://id.example.com${path}`)))
    expect(status).toBe(404)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    expect(headers.get('content-type')).toBe('application/json')
  })

  test('1.1 the query is not part of the path', async () => {
    expect(await probe(await fixture(), '/connect/token?a=/connect/userinfo')).toBe(405)
  })

  test('1.1 ignores the host of a request: discovery names the issuer', async () => {
    const { provider } = await fixture()
    const response = await provider.fetch(new Request('https://evil.example.net/.well-known/openid-configuration'))
    const { body } = await read(response)
    expect(body.issuer).toBe('https://id.example.com')
    expect(body.token_endpoint).toBe('https://id.example.com/connect/token')
  })

  test('1.2 the RFC 8414 metadata puts its well-known part between the host and the path of the issuer', async () => {
    const f = await fixture({ issuer: withPath })
    expect(await probe(f, '/.well-known/oauth-authorization-server/tenants/one')).toBe(405)
    expect(await probe(f, '/tenants/one/.well-known/oauth-authorization-server')).toBe(404)
    expect(await probe(f, '/.well-known/oauth-authorization-server')).toBe(404)
    const url = 'https://id.example.com/.well-known/oauth-authorization-server/tenants/one'
    const { body } = await read(await f.provider.fetch(new Request(url)))
    expect(body.issuer).toBe(withPath)
    expect(body.token_endpoint).toBe(`${withPath}/connect/token`)
    expect(body.jwks_uri).toBe(`${withPath}/.well-known/jwks`)
  })
})

describe('configured paths', () => {
  test.each(paths)('1.3 the path of %s is configurable', async (name, path) => {
    const f = await fixture({ endpoints: { [name]: '/elsewhere/it' } })
    expect(await probe(f, '/elsewhere/it')).toBe(405)
    expect(await probe(f, path)).toBe(404)
  })

  test('1.3 a configured path is below the path of the issuer, and discovery names it', async () => {
    const f = await fixture({ issuer: withPath, endpoints: { token: '/oauth/token' } })
    expect(await probe(f, '/tenants/one/oauth/token')).toBe(405)
    expect(await probe(f, '/oauth/token')).toBe(404)
    expect(f.provider.metadata.token_endpoint).toBe(`${withPath}/oauth/token`)
  })

  test('1.3 true selects the default path', async () => {
    expect(await probe(await fixture({ endpoints: { token: true } }), '/connect/token')).toBe(405)
  })

  test('1.3 a handler works at any path where the host mounts it', async () => {
    const { provider } = await fixture()
    const { body } = await read(await provider.handlers.jwks(new Request('https://any.example.net/keys?x=1')))
    expect(body.keys).toHaveLength(1)
  })

  test.each(['oauth/token', '/', '/oauth/', '/oauth?x=1', '/oauth#x', '/o auth', ''])(
    '1.3 rejects the path "%s" at start',
    async (path) => {
      const endpoints = { token: path } as Partial<Record<EndpointName, `/${string}`>>
      await expect(fixture({ endpoints })).rejects.toThrow(/: endpoints\.token must be /u)
    },
  )

  test('the error for a wrong path gives an example', async () => {
    const endpoints = { token: 'oauth/token' } as unknown as Partial<Record<EndpointName, `/${string}`>>
    await expect(fixture({ endpoints })).rejects.toThrow('must be true, false, or a path such as /oauth/token')
  })

  test('1.3 rejects two endpoints with the same path at start', async () => {
    await expect(fixture({ endpoints: { token: '/same', userinfo: '/same' } })).rejects.toThrow(/have the same path/u)
  })
})
