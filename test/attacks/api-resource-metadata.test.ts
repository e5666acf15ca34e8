/**
 * Attack: an MCP client learns from an API where its users sign in: from the challenge, the URL of the metadata document,
 * and from this document, the issuer. An attacker who can change any of them makes users sign in at an issuer of the
 * attacker, or gets tokens for another server. The sender of a request controls its host, scheme, forwarding headers, path
 * and token; a cache in between can send the response to others.
 *
 * RFC 9728 section 7 describes the attacks (7.3 impersonation, 7.6 differing URLs, 7.7 SSRF).
 */
import { describe, expect, test } from 'vitest'
import { type AccessToken, createResourceServer, mcpAuth } from '../../packages/resource-server/src/index.ts'
import { audience, createIssuer, issuer, keyNamed, sign } from '../resource-server/issuer.ts'
import { senders } from '../resource-server/mcp-frameworks.ts'

const issuerKey = await keyNamed('one')
const resource = `${audience}/mcp`
const metadataUrl = `${audience}/.well-known/oauth-protected-resource/mcp`

async function optionsOf() {
  const { options } = await createIssuer()
  return { ...options, audience: undefined, resource, scopes: 'mcp:tools' }
}

const hostile = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-forwarded-prefix': '/evil',
  'x-original-url': '/evil',
  forwarded: 'host=evil.example;proto=http',
  origin: 'https://evil.example',
}

describe.each(senders)('in %s, a sender cannot change', (_, send) => {
  test('the URL of the metadata document, by any header', async () => {
    const { headers } = await send(await optionsOf(), { headers: hostile })
    expect(headers.get('www-authenticate')).toBe(`Bearer scope="mcp:tools", resource_metadata="${metadataUrl}"`)
    expect(JSON.stringify([...headers])).not.toContain('evil')
  })

  test('the metadata document, by any header', async () => {
    const path = '/.well-known/oauth-protected-resource/mcp'
    const { body, headers } = await send(await optionsOf(), { method: 'GET', path, headers: hostile })
    expect(JSON.parse(body)).toMatchObject({ resource, authorization_servers: [issuer] })
    expect(body + JSON.stringify([...headers])).not.toContain('evil')
  })

  test.each([
    ['another server on the host', { aud: `${audience}/other` }],
    ['the host', { aud: audience }],
    ['a server below this one', { aud: `${resource}/tools` }],
    ['a server whose name begins like this one', { aud: `${resource}2` }],
    ['the same path of another host', { aud: 'https://other.example/mcp' }],
    ['the same server by http', { aud: 'http://api.example/mcp' }],
    ['no server', { aud: undefined }],
    ['this server, of another issuer', { aud: resource, iss: 'https://evil.example' }],
  ])('the server that a token is for: %s', async (_name, claims) => {
    const token = await sign(issuerKey, { scope: 'mcp:tools', ...claims })
    const outcome = await send(await optionsOf(), { headers: { authorization: `Bearer ${token}` } })
    expect(outcome).toMatchObject({ status: 401, isPassedOn: false })
  })
})

describe('on the way', () => {
  test('a host of a Fetch request changes nothing', async () => {
    const handler = mcpAuth(await optionsOf(), () => new Response())
    const response = await handler(new Request('http://evil.example/mcp', { method: 'POST' }))
    expect(response.headers.get('www-authenticate')).toContain(`resource_metadata="${metadataUrl}"`)
    const document = await handler(new Request('http://evil.example/.well-known/oauth-protected-resource/mcp'))
    expect(await document.json()).toMatchObject({ resource })
  })

  test('a cache keeps no refusal', async () => {
    const handler = mcpAuth(await optionsOf(), () => new Response())
    expect((await handler(new Request(resource))).headers.get('cache-control')).toBe('no-store')
  })

  // `https://host` and `https://host/` name the same resource: clients that parse URLs request the second.
  test.each([
    [audience, `${audience}/`],
    [`${audience}/`, audience],
    [resource, `${resource}/`],
    [`${resource}/`, resource],
  ])('a slash at the end names the same server: %s', async (identifier, aud) => {
    const { options } = await createIssuer()
    const api = createResourceServer({ ...options, audience: undefined, resource: identifier })
    const claims = (await api.verify(await sign(issuerKey, { aud }))).extra as AccessToken['claims']
    expect(claims.sub).toBe('alice')
    await expect(api.verify(await sign(issuerKey, { aud: `${aud}x` }))).rejects.toMatchObject({
      reason: 'audience_mismatch',
    })
  })

  test('an audience that is given is the only one', async () => {
    const { options } = await createIssuer()
    const api = createResourceServer({ ...options, audience: 'orders', resource })
    await expect(api.verify(await sign(issuerKey, { aud: resource }))).rejects.toMatchObject({
      reason: 'audience_mismatch',
    })
    expect((await api.verify(await sign(issuerKey, { aud: 'orders' }))).clientId).toBe('web')
  })
})

describe('no option can end a parameter of the challenge', () => {
  test.each([
    ['scopes', 'a", resource_metadata="https://evil.example'],
    ['scopes', 'a\\'],
    ['scopes', 'a\r\nset-cookie:a=b'],
    ['acrValues', 'a", error="none'],
    ['acrValues', 'ä'],
    ['resource', 'https://api.example/mcp", error="none'],
    ['resource', 'https://api.example/mcp\\'],
    ['resource', 'https://user:password@api.example/mcp'],
    ['resource', 'https://api.example/mcp#", error="none'],
    ['realm', 'a", resource_metadata="https://evil.example'],
  ])('%s = %j is refused at start', async (name, value) => {
    const options = { ...(await optionsOf()), [name]: value }
    expect(() => mcpAuth(options, () => new Response())).toThrow(TypeError)
  })
})
