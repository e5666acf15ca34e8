import { describe, expect, test } from 'vitest'
import { authInfoOf } from '../../packages/resource-server/src/hono.ts'
import type { McpAuthOptions } from '../../packages/resource-server/src/index.ts'
import { createBound } from './bound.ts'
import { audience, createIssuer, keyNamed, sign, start } from './issuer.ts'
import { senders } from './mcp-frameworks.ts'

// mcpAuth() with the parts of frameworks that it uses. `test/relying-parties` starts the frameworks and the MCP SDKs.

const resource = `${audience}/mcp`
const metadataPath = '/.well-known/oauth-protected-resource/mcp'
const key = await keyNamed('one')
const tokenFor = (claims: object = {}): Promise<string> => sign(key, { aud: resource, scope: 'mcp:tools', ...claims })

async function optionsOf(more: Partial<McpAuthOptions> = {}): Promise<McpAuthOptions> {
  const { options } = await createIssuer()
  return { ...options, audience: undefined, resource, scopes: 'mcp:tools', ...more }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe.each(senders)('mcpAuth() for %s', (_, send) => {
  test('passes on a request with a token for the server, in the form of the MCP SDKs', async () => {
    const token = await tokenFor({ act: { sub: 'agent' } })
    const { authInfo, headers } = await send(await optionsOf(), { headers: bearer(token) })
    expect(authInfo).toEqual({
      token,
      clientId: 'web',
      scopes: ['mcp:tools'],
      expiresAt: start + 300,
      resource: new URL(resource),
      resourceMetadataUrl: `${audience}${metadataPath}`,
      extra: expect.objectContaining({ sub: 'alice', act: { sub: 'agent' } }),
    })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toMatch(/\bMcp-Session-Id\b/u)
  })

  test.each(['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])('protects the method %s', async (method) => {
    expect(await send(await optionsOf(), { method })).toMatchObject({ status: 401, isPassedOn: false })
  })

  test.each(['/', '/mcp/', '/MCP', '//mcp', '/%6dcp', '/other', '/.well-known/x', '/.well-known/../mcp'])(
    'protects the path %s, which a router could read as that of the server',
    async (path) => {
      expect(await send(await optionsOf(), { path })).toMatchObject({ status: 401, isPassedOn: false })
    },
  )

  test('names the metadata document and the scopes in 401 and 403, which pages of other origins can read', async () => {
    const options = await optionsOf({ scopes: ['mcp:tools', 'mcp:admin'] })
    const parameters = `scope="mcp:tools mcp:admin", resource_metadata="${audience}${metadataPath}"`
    const missing = await send(options, {})
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, `Bearer ${parameters}`])
    const lacking = await send(options, { headers: bearer(await tokenFor()) })
    expect([lacking.status, lacking.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", error_description="The access token lacks a required scope", ${parameters}`,
    ])
    for (const { headers } of [missing, lacking]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toMatch(/\bWWW-Authenticate\b/u)
    }
  })

  test('serves the metadata document with the scopes', async () => {
    const { status, body } = await send(await optionsOf(), { method: 'GET', path: metadataPath })
    expect([status, JSON.parse(body)]).toEqual([
      200,
      expect.objectContaining({ resource, scopes_supported: ['mcp:tools'] }),
    ])
    const metadata = { scopes: ['mcp:tools', 'mcp:admin'], name: 'Orders' }
    const withName = await send(await optionsOf({ metadata }), { method: 'GET', path: metadataPath })
    expect(JSON.parse(withName.body)).toMatchObject({ scopes_supported: metadata.scopes, resource_name: 'Orders' })
  })

  test.each(['', '/', '/other', '/mcp/tools', '/..%2f..%2fmcp', '/%2e%2e%2fmcp'])(
    'has no other metadata document, as clients that try several paths expect: %s',
    async (rest) => {
      const path = `/.well-known/oauth-protected-resource${rest}`
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const { status, isPassedOn, headers } = await send(await optionsOf(), { method, path })
        expect([status, isPassedOn, headers.get('access-control-allow-origin')]).toEqual([404, false, '*'])
      }
    },
  )

  test('answers a preflight of the MCP Inspector', async () => {
    const headers = {
      origin: 'http://localhost:6274',
      'access-control-request-method': 'POST',
      'access-control-request-headers':
        'authorization,content-type,dpop,last-event-id,mcp-protocol-version,mcp-session-id',
    }
    const preflight = await send(await optionsOf(), { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.isPassedOn]).toEqual([204, false])
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE, OPTIONS')
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? []
    for (const name of headers['access-control-request-headers'].split(',')) expect(allowed).toContain(name)
    expect(allowed).toContain('*')
    expect(preflight.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('leaves CORS to the host if it is switched off', async () => {
    const options = await optionsOf({ cors: false })
    const headers = { 'access-control-request-method': 'POST' }
    const preflight = await send(options, { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.has('access-control-allow-origin')]).toEqual([401, false])
    const allowed = await send(options, { headers: bearer(await tokenFor()) })
    expect(allowed.headers.has('access-control-allow-origin')).toBe(false)
  })

  test('accepts a bound token with a proof', async () => {
    const { token, client, prove } = await createBound({}, { claims: { aud: resource, scope: 'mcp:tools' } })
    const options = await optionsOf({ dpop: { baseUrl: audience } })
    const dpop = await prove({ htm: 'POST', htu: resource })
    const { authInfo } = await send(options, { headers: { authorization: `DPoP ${token}`, dpop } })
    expect(authInfo?.extra.cnf).toEqual({ jkt: client.thumbprint })
    expect(await send(options, { headers: bearer(token) })).toMatchObject({ status: 401, isPassedOn: false })
  })

  test('demands an authentication of the user', async () => {
    const options = await optionsOf({ acrValues: 'urn:mfa', maxAge: 60 })
    const { status, headers } = await send(options, { headers: bearer(await tokenFor()) })
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining(`acr_values="urn:mfa", max_age="60", resource_metadata="${audience}${metadataPath}"`),
    ])
    const claims = { acr: 'urn:mfa', auth_time: start }
    expect(await send(options, { headers: bearer(await tokenFor(claims)) })).toMatchObject({ isPassedOn: true })
  })

  test('keeps an outage of the issuer apart from a token that is not valid', async () => {
    const options = await optionsOf({ fetch: async () => new Response(null, { status: 502 }) })
    const { status, headers, body } = await send(options, { headers: bearer(await tokenFor()) })
    expect([status, JSON.parse(body).error]).toEqual([503, 'temporarily_unavailable'])
    expect(headers.has('www-authenticate')).toBe(false)
    // When the issuer is asked for its keys again.
    expect(headers.get('retry-after')).toBe('5')
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  test.each([
    ['no resource', { resource: undefined as unknown as string }],
    ['a wrong scope', { scopes: 'a b' }],
    ['a mistyped member', { scope: 'a' } as object],
    ['a text as cors', { cors: 'no' as unknown as boolean }],
  ])('fails at start with %s', async (_name, more) => {
    const options = await optionsOf(more)
    await expect((async () => send(options, {}))()).rejects.toThrow(TypeError)
  })
})

test('authInfoOf() throws for a request that mcpAuth() has not passed on', () => {
  expect(() => authInfoOf({})).toThrow(/mcpAuth\(\) has not run/u)
})
