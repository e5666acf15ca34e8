import { describe, expect, test } from 'vitest'
import { createResourceServer, type ResourceServerSettings } from '../../packages/resource-server/src/index.ts'
import { audience, createIssuer, issuer } from './issuer.ts'

// RFC 9728 sections 2 and 3.

const resource = `${audience}/mcp`
const metadataUrl = `${audience}/.well-known/oauth-protected-resource/mcp`

async function createResource(options: Partial<ResourceServerSettings> = {}) {
  const { options: common } = await createIssuer()
  return createResourceServer({ ...common, audience: undefined, resource, ...options } as Parameters<
    typeof createResourceServer
  >[0])
}

async function documentOf(options: Partial<ResourceServerSettings> = {}, url = metadataUrl) {
  return (await createResource(options)).metadata(new Request(url))?.json()
}

describe('the metadata document', () => {
  test('names the resource and its issuer', async () => {
    expect(await documentOf()).toEqual({
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    })
  })

  test('contains what the options determine', async () => {
    const document = await documentOf({
      dpop: { baseUrl: audience, algorithms: ['ES256'] },
      requiredBinding: 'dpop',
      clientCertificate: () => undefined,
      metadata: {
        authorizationServers: [issuer, 'https://other.example'],
        scopes: ['mcp:tools', 'mcp:admin'],
        name: 'Orders',
        documentation: 'https://docs.example/orders',
        policy: 'https://docs.example/policy',
        terms: 'https://docs.example/terms',
      },
    })
    expect(document).toEqual({
      resource,
      authorization_servers: [issuer, 'https://other.example'],
      scopes_supported: ['mcp:tools', 'mcp:admin'],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: ['ES256'],
      dpop_bound_access_tokens_required: true,
      tls_client_certificate_bound_access_tokens: true,
      resource_name: 'Orders',
      resource_documentation: 'https://docs.example/orders',
      resource_policy_uri: 'https://docs.example/policy',
      resource_tos_uri: 'https://docs.example/terms',
    })
  })

  test.each([
    ['without a path', audience, `${audience}/.well-known/oauth-protected-resource`],
    ['with the path /', `${audience}/`, `${audience}/.well-known/oauth-protected-resource`],
    ['with a slash at the end', `${resource}/`, metadataUrl],
    ['with a longer path', `${resource}/orders`, `${metadataUrl}/orders`],
    ['on this machine', 'http://localhost:8080/mcp', 'http://localhost:8080/.well-known/oauth-protected-resource/mcp'],
  ])('of a resource %s has its identifier as it was written, and its path inserted', async (_, identifier, url) => {
    expect(await documentOf({ resource: identifier }, url)).toMatchObject({ resource: identifier })
    // Clients differ in whether they remove a slash at the end.
    expect(await documentOf({ resource: identifier }, `${url}/`)).toMatchObject({ resource: identifier })
  })

  test.each([
    ['the root, which can belong to another resource', `${audience}/.well-known/oauth-protected-resource`],
    ['another path', `${audience}/.well-known/oauth-protected-resource/other`],
    ['a longer path', `${metadataUrl}/tools`],
    ['another case', `${audience}/.well-known/oauth-protected-resource/MCP`],
    ['a path after the resource', `${resource}/.well-known/oauth-protected-resource`],
    ['the resource', resource],
  ])('is not at %s', async (_, url) => {
    expect((await createResource()).metadata(new Request(url))).toBeUndefined()
  })

  test('is not there without a resource', async () => {
    const { options } = await createIssuer()
    expect(createResourceServer(options).metadata(new Request(metadataUrl))).toBeUndefined()
  })

  test('does not depend on the query', async () => {
    expect(await documentOf({}, `${metadataUrl}?x=1`)).toMatchObject({ resource })
  })
})

describe('a request for the document', () => {
  test('can be cached, and read by pages of all origins', async () => {
    const response = (await createResource()).metadata(new Request(metadataUrl))
    expect(Object.fromEntries(response?.headers ?? [])).toEqual({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
      'content-type': 'application/json',
    })
  })

  test('with HEAD gets no body', async () => {
    const response = (await createResource()).metadata(new Request(metadataUrl, { method: 'HEAD' }))
    expect([response?.status, response?.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response?.text()).toBe('')
  })

  // The MCP Inspector sends MCP-Protocol-Version.
  test('can have a preflight', async () => {
    const response = (await createResource()).metadata(new Request(metadataUrl, { method: 'OPTIONS' }))
    expect(response?.status).toBe(204)
    expect(response?.headers.get('access-control-allow-origin')).toBe('*')
    expect(response?.headers.get('access-control-allow-headers')).toBe('*, Authorization')
  })

  test.each(['POST', 'PUT', 'DELETE'])('with %s gets 405', async (method) => {
    const response = (await createResource()).metadata(new Request(metadataUrl, { method }))
    expect([response?.status, response?.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  test('gets it from protect() without a token', async () => {
    const api = await createResource()
    const handler = api.protect(() => new Response('orders'))
    expect(await (await handler(new Request(metadataUrl))).json()).toMatchObject({ resource })
    expect((await handler(new Request(resource))).status).toBe(401)
  })
})

describe('an option that is wrong is an error', () => {
  test.each([
    ['no text', 7, /must be a URL with https/u],
    ['no URL', 'api', /must be a URL with https/u],
    ['http', 'http://api.example/mcp', /must be a URL with https/u],
    ['a user', 'https://user@api.example/mcp', /must be a URL with https/u],
    ['a password', 'https://user:secret@api.example/mcp', /must be a URL with https/u],
    ['a fragment', `${resource}#tools`, /no query and no fragment/u],
    ['an empty fragment', `${resource}#`, /no query and no fragment/u],
    ['a query', `${resource}?a=1`, /no query and no fragment/u],
    ['a host in capitals', 'https://API.example/mcp', /must be written as https:\/\/api\.example\/mcp$/u],
    ['a scheme in capitals', 'HTTPS://api.example/mcp', /must be written as https:\/\/api\.example\/mcp$/u],
    ['the default port', 'https://api.example:443/mcp', /must be written as https:\/\/api\.example\/mcp$/u],
    ['dot segments', 'https://api.example/a/../mcp', /must be written as https:\/\/api\.example\/mcp$/u],
    ['quotation marks', 'https://api.example/"mcp"', /must be written as https:\/\/api\.example\/%22mcp%22$/u],
    ['a line break', 'https://api.example/\r\nmcp', /must be written as https:\/\/api\.example\/mcp$/u],
    ['empty parts of the path', 'https://api.example//mcp', /no empty part/u],
  ])('resource with %s', async (_, value, message) => {
    await expect(createResource({ resource: value as string })).rejects.toThrow(message)
  })

  test.each([
    ['a mistyped member', { title: 'Orders' } as object, /metadata has no member title/u],
    ['a wrong scope', { scopes: 'a b' }, /is not a scope/u],
    ['an unsafe issuer', { authorizationServers: 'http://issuer.example' }, /metadata.authorizationServers must be/u],
    ['an unsafe page', { documentation: 'javascript:alert(1)' }, /metadata.documentation must be a URL/u],
    ['an empty name', { name: '' }, /metadata.name must be a non-empty string/u],
  ])('metadata with %s', async (_, metadata, message) => {
    await expect(createResource({ metadata })).rejects.toThrow(message)
  })

  test('metadata without resource, an API without audience and resource', async () => {
    const { options } = await createIssuer()
    expect(() => createResourceServer({ ...options, metadata: {} })).toThrow('metadata requires resource')
    await expect(createResource({ resource: undefined as unknown as string })).rejects.toThrow(/audience must be/u)
  })

  test('a pattern of issuers without authorization servers', async () => {
    const pattern = { pattern: 'https://issuer.example/{tenant}', claim: 'tid', accepts: () => true }
    const options = { issuer: pattern, jwt: { jwksUri: 'https://issuer.example/keys' } }
    await expect(createResource(options)).rejects.toThrow('issuer.pattern requires metadata.authorizationServers')
    expect(await documentOf({ ...options, metadata: { authorizationServers: issuer } })).toMatchObject({
      authorization_servers: [issuer],
    })
  })
})
