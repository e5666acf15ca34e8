import {
  type AuthenticatedClient,
  type Callers,
  createProvider,
  defineEndpoint,
  definePlugin,
  type Endpoint,
  type EndpointKit,
  type Handler,
  type Kit,
  type Proposal,
  type Provider,
  type ProviderOptions,
  type TokenCaller,
} from '@grantry/core'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'

declare module '@grantry/core' {
  interface PluginEndpoints {
    typedProbe: true
  }
}

const parts = { name: 'a', path: '/a', methods: ['POST'] } as const
const params = v.object({ scope: v.optional(v.string()), count: v.pipe(v.string(), v.transform(Number)) })
const handle = () => ({ json: null })

describe('the call of an endpoint', () => {
  test('has a caller of the declared kind', () => {
    defineEndpoint({
      ...parts,
      caller: 'client',
      handle({ caller }) {
        expectTypeOf(caller).toEqualTypeOf<AuthenticatedClient>()
        return {}
      },
    })
    defineEndpoint({
      ...parts,
      caller: 'scope',
      handle({ caller }) {
        expectTypeOf(caller).toEqualTypeOf<Callers['scope']>()
        // @ts-expect-error the hashes of secrets are not for plugins
        return { json: caller.secrets }
      },
    })
    defineEndpoint({
      ...parts,
      caller: 'token',
      scope: 'api1',
      handle({ caller }) {
        expectTypeOf(caller).toEqualTypeOf<TokenCaller>()
        return {}
      },
    })
    defineEndpoint({
      ...parts,
      caller: 'anyone',
      handle({ caller }) {
        expectTypeOf(caller).toEqualTypeOf<undefined>()
        return {}
      },
    })
  })

  test('has the params of the schema', () => {
    defineEndpoint({
      ...parts,
      caller: 'anyone',
      params,
      handle({ params, request }) {
        expectTypeOf(params).toEqualTypeOf<{ scope?: string | undefined; count: number }>()
        expectTypeOf(request.header).toEqualTypeOf<(name: string) => string | null>()
        expectTypeOf(request.url).toEqualTypeOf<string>()
        return {}
      },
    })
  })

  test('has no params without a schema', () => {
    // @ts-expect-error nothing has validated them
    defineEndpoint({ ...parts, caller: 'anyone', handle: ({ params }) => ({ json: params.scope }) })
  })
})

describe('the definition of an endpoint', () => {
  test('rejects unknown values', () => {
    // @ts-expect-error no such caller
    defineEndpoint({ ...parts, caller: 'user', handle })
    // @ts-expect-error no such method
    defineEndpoint({ ...parts, methods: ['TRACE'], caller: 'anyone', handle })
    // @ts-expect-error a path begins with a slash
    defineEndpoint({ ...parts, path: 'a', caller: 'anyone', handle })
    // @ts-expect-error the discovery member of an endpoint has a suffix
    defineEndpoint({ ...parts, metadataName: 'issuer', caller: 'anyone', handle })
    // @ts-expect-error metadata instead of metadataName would be ignored
    defineEndpoint({ ...parts, metadata: 'a_endpoint', caller: 'anyone', handle })
    // @ts-expect-error nothing would handle its requests
    defineEndpoint({ ...parts, caller: 'anyone' })
  })

  test('rejects malformed replies', () => {
    const location = 'https://a.example'
    // @ts-expect-error a redirect that repeats the form
    defineEndpoint({ ...parts, caller: 'anyone', handle: () => ({ status: 307 as const, location }) })
    // @ts-expect-error cookie instead of cookies would be a defect
    defineEndpoint({ ...parts, caller: 'anyone', handle: () => ({ json: null, cookie: ['a=b'] }) })
    // @ts-expect-error a reply is not a Response
    defineEndpoint({ ...parts, caller: 'anyone', handle: () => new Response() })
  })

  test('is an Endpoint, whatever its schema and caller', () => {
    const endpoint = defineEndpoint({ ...parts, caller: 'client', params, handle: () => ({}) })
    expectTypeOf(endpoint).toEqualTypeOf<Endpoint<typeof params, 'client'>>()
    expectTypeOf(endpoint).toExtend<Endpoint>()
    expectTypeOf(definePlugin).toBeCallableWith('a', [endpoint])
  })
})

test('the kit has exactly the documented members, and no way to issue', () => {
  expectTypeOf<keyof EndpointKit>().toEqualTypeOf<
    | keyof Kit
    | 'endpointUrl'
    | 'readIdentityToken'
    | 'areRevoked'
    | 'isUserActive'
    | 'epochOf'
    | 'epochOfClient'
    | 'epochsOf'
    | 'findClient'
    | 'lastingScopes'
    | 'scopesOf'
    | 'openAuthorization'
    | 'provedEpochOf'
    | 'authorize'
    | 'authorizedEpochs'
    | 'authenticateUser'
    | 'rememberAddress'
    | 'revoke'
    | 'renewEpoch'
    | 'renewEpochOfClient'
    | 'limitWaiting'
  >()
})

test('a provider has the two functions that lead to a code from its kits, and no others', () => {
  expectTypeOf<Provider['openAuthorization']>().toEqualTypeOf<EndpointKit['openAuthorization']>()
  expectTypeOf<Provider['authorize']>().toEqualTypeOf<EndpointKit['authorize']>()
  expectTypeOf<keyof Provider>().toEqualTypeOf<
    | 'issuer'
    | 'handlers'
    | 'fetch'
    | 'notFound'
    | 'unavailable'
    | 'route'
    | 'authenticateUser'
    | 'revoke'
    | 'openAuthorization'
    | 'authorize'
    | 'use'
    | 'has'
    | 'revoke'
    | 'renewClient'
    | 'checkClient'
    | 'checkScope'
    | 'findings'
    | 'inspect'
    | 'metadata'
    | 'grantTypes'
    | 'keys'
    | 'paths'
    | 'methods'
    | 'observerFailures'
    | 'isReady'
    | 'runTasks'
    | 'close'
  >()
  const provider = {} as Provider
  const request = { kind: 'code', clientId: 'web', scopes: ['api1'] }
  const subject = { sub: '1', amr: ['pwd'] }
  // @ts-expect-error a request that was not opened
  provider.authorize({ ...request, subject }, { subject })
  // @ts-expect-error nothing that a user has authorized
  provider.authorize({} as Proposal)
})

describe('a provider with endpoints of plugins', () => {
  test('has a handler for each endpoint of the core, and perhaps for other names', () => {
    expectTypeOf<Provider['handlers']['token']>().toEqualTypeOf<Handler>()
    expectTypeOf<Provider['handlers']['device']>().toEqualTypeOf<Handler | undefined>()
    expectTypeOf<Provider['paths']['device']>().toEqualTypeOf<string | undefined>()
  })

  test('has switches for the names that a plugin declares', () => {
    const good = {} as ProviderOptions
    createProvider({ ...good, endpoints: { token: '/token', typedProbe: false } })
    // @ts-expect-error the endpoint would stay on
    createProvider({ ...good, endpoints: { typedProb: false } })
  })
})
