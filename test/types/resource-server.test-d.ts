import { describe, expectTypeOf, test } from 'vitest'
import {
  type AccessToken,
  type AuthInfo,
  createResourceServer,
  mcpAuth,
  type ResourceServer,
  type ResourceServerOptions,
} from '../../packages/resource-server/src/index.ts'

declare const api: ResourceServer

describe('the result of a check', () => {
  test('has no token until the response was handled', async () => {
    const { token, response } = await api.authorize(new Request('https://api.example/'))
    // @ts-expect-error A caller must not use the token of a request that may be refused.
    void token.claims
    if (response !== undefined) {
      expectTypeOf(token).toEqualTypeOf<undefined>()
      return
    }
    expectTypeOf(token).toEqualTypeOf<AccessToken>()
  })

  test('cannot be changed', async () => {
    const { token } = await api.authorize(new Request('https://api.example/'))
    // @ts-expect-error Middlewares after this one rely on it.
    if (token !== undefined) token.claims.sub = 'admin'
  })
})

test('a handler gets the token and the arguments of the host', () => {
  const handler = api.protect((request, token, environment: { readonly name: string }) => {
    expectTypeOf(request).toEqualTypeOf<Request>()
    expectTypeOf(token).toEqualTypeOf<AccessToken>()
    return new Response(environment.name)
  })
  expectTypeOf(handler).parameters.toEqualTypeOf<[Request, { readonly name: string }]>()
})

test('an audience is required, and DPoP requires the public URL', () => {
  const issuer = 'https://id.example.com'
  // @ts-expect-error Without an audience, tokens for other APIs would be accepted.
  void (() => createResourceServer({ issuer }))
  // @ts-expect-error The header Host would decide which proofs are accepted.
  void (() => createResourceServer({ issuer, audience: issuer, dpop: {} }))
  expectTypeOf<ResourceServerOptions['jwt']>().not.toBeAny()
})

test('an API is named by its audience or its identifier', () => {
  const [issuer, resource] = ['https://id.example.com', 'https://api.example.com/mcp']
  expectTypeOf(() => createResourceServer({ issuer, resource })).returns.toEqualTypeOf<ResourceServer>()
  expectTypeOf(() =>
    createResourceServer({ issuer, audience: 'api', resource }),
  ).returns.toEqualTypeOf<ResourceServer>()
  // @ts-expect-error The metadata document has the identifier of the server.
  void (() => mcpAuth({ issuer, audience: resource }, () => new Response()))
})

/** As `@modelcontextprotocol/sdk` 1.32 and `@modelcontextprotocol/server` 2.4 define it. */
interface SdkAuthInfo {
  token: string
  clientId: string
  scopes: string[]
  expiresAt?: number
  resource?: URL
  resourceMetadataUrl?: string
  extra?: Record<string, unknown>
}

test('a token has the form of the MCP SDKs', () => {
  expectTypeOf<AuthInfo>().toExtend<SdkAuthInfo>()
  const verifier: { verifyAccessToken(token: string): Promise<SdkAuthInfo> } = { verifyAccessToken: api.verify }
  void verifier
  const transport = (_request: Request, _options?: { authInfo?: SdkAuthInfo; parsedBody?: unknown }) => new Response()
  void (() => mcpAuth({ issuer: 'https://id.example.com', resource: 'https://api.example.com/mcp' }, transport))
})
