import { describe, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { callAsPod, metadataUrl, missing, withServer } from './mcp-setting.ts'

// The official MCP SDKs on both sides of an MCP server that `mcpAuth()` protects. The clients know only its URL.

const known = (resource: string, scopes = ['mcp:tools']) => ({ clientId: 'mcp-client', sub: 'alice', scopes, resource })

const defineTests = (): void => {
  describe.each(['Express', 'Fastify', 'Hono', 'Fetch'])('in %s', (framework) => {
    test.each(['SDK 1', 'SDK 2'])('signs users of a client of %s in, which finds the issuer by itself', (generation) =>
      withServer(
        framework,
        () => ({}),
        async ({ resource, useServer }) => {
          const { asked, result } = await useServer(generation)
          expect(result).toEqual(known(resource))
          expect(asked.map((url) => Object.fromEntries(new URL(url).searchParams))).toEqual([
            expect.objectContaining({ scope: 'mcp:tools', resource, client_id: 'mcp-client' }),
          ])
        },
      ),
    )

    test.each(['SDK 1', 'SDK 2'])('signs users of a client of %s in that has only a metadata document', (generation) =>
      withServer(
        framework,
        () => ({}),
        async ({ resource, useServer }) => {
          const { asked, result } = await useServer(generation, { metadataUrl })
          expect(result).toEqual({ ...known(resource), clientId: metadataUrl })
          expect(asked).toHaveLength(1)
        },
      ),
    )

    test('accepts a token that is bound to a key of a client of SDK 2, with a nonce', () =>
      withServer(
        framework,
        (resource) => ({ dpop: { baseUrl: new URL(resource).origin, nonce: true }, requiredBinding: 'dpop' }),
        async ({ resource, useServer }) => {
          expect((await useServer('SDK 2', { dpop: true })).result).toEqual(known(resource))
        },
      ))
  })

  test.each(['Hono', 'Fetch'])(
    'a tool that needs another scope makes a client of SDK 2 ask for both: %s',
    (framework) =>
      withServer(
        framework,
        () => ({ metadata: { scopes: ['mcp:tools', 'mcp:admin'] } }),
        async ({ resource, useServer }) => {
          const { asked, result } = await useServer('SDK 2', { tool: 'cancel' })
          expect(result).toEqual(known(resource, ['mcp:tools', 'mcp:admin']))
          expect(asked.map((url) => new URL(url).searchParams.get('scope'))).toEqual([
            'mcp:tools',
            'mcp:tools mcp:admin',
          ])
        },
      ),
  )

  test.each(['SDK 1', 'SDK 2'])('verify() works in the middleware of SDK 1, with a client of %s', (generation) =>
    withServer(
      'the middleware of SDK 1',
      () => ({}),
      async ({ resource, useServer }) => {
        expect((await useServer(generation)).result).toEqual(known(resource))
        const refused = await fetch(resource, { method: 'POST', headers: { authorization: 'Bearer abc' } })
        expect(refused.status).toBe(401)
      },
    ),
  )

  test.each(['SDK 1', 'SDK 2'])('a pod calls a tool with a token of its cluster, by a client of %s', (generation) =>
    withServer(
      'Fetch',
      () => ({}),
      async ({ resource }) => {
        const result = await callAsPod(generation, resource)
        expect(result).toMatchObject({ clientId: 'agent', scopes: ['mcp:tools'], resource })
      },
    ),
  )

  test('two servers in one application of Express accept their own tokens only', () =>
    withServer(
      'two servers',
      () => ({}),
      async ({ resource, useServer }) => {
        expect((await useServer('SDK 2')).result).toEqual(known(resource))
        const otherResource = resource.replace('/mcp', '/other')
        const refused = await fetch(otherResource, { method: 'POST' })
        const metadataUrl = /resource_metadata="(.+?)"/u.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? ''
        expect(await (await fetch(metadataUrl)).json()).toMatchObject({ resource: otherResource })
        expect((await fetch(new URL('/', resource))).status).toBe(200)
      },
    ))
}

describeWith(missing, 'an MCP server with the official SDKs', defineTests, describe)
