import { describe, expectTypeOf, test } from 'vitest'
import {
  type AccessToken,
  createResourceServer,
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
