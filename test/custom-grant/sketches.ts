import {
  type ClientOptions,
  defineClientSource,
  defineEndpoint,
  definePlugin,
  type EndpointKit,
  OAuthError,
  type Plugin,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'

// Sketches of features that later plugins implement completely. They show that the contract can express them: no test
// or plugin here uses anything but the public entry of the core.

const authorizationParams = v.object({
  client_id: v.optional(v.string()),
  redirect_uri: v.optional(v.string()),
  scope: v.optional(v.string(), ''),
  state: v.optional(v.string()),
  nonce: v.optional(v.string()),
  code_challenge: v.optional(v.string()),
  code_challenge_method: v.optional(v.string()),
  request_uri: v.optional(v.string()),
})
type AuthorizationRequest = v.InferOutput<typeof authorizationParams>

const stored = v.object({ ...authorizationParams.entries, client_id: v.string(), redirect_uri: v.string() })

/** Without the members that are absent, which JSON cannot represent. */
const present = (request: AuthorizationRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(request).filter((entry): entry is [string, string] => entry[1] !== undefined))

const proposed = ({ client_id: clientId = '', redirect_uri: redirectUri, scope, ...params }: AuthorizationRequest) => ({
  kind: 'code',
  clientId,
  redirectUri,
  scopes: scope.split(' '),
  params: present({ scope, ...params }),
})

const urnPrefix = 'urn:ietf:params:oauth:request_uri:'

/** The authorization endpoint (RFC 6749 section 3.1) with pushed authorization requests (RFC 9126). */
export const authorizationEndpoint = (loginPage: string): Plugin => {
  async function requested(params: AuthorizationRequest, kit: EndpointKit) {
    const { request_uri: uri } = params
    if (uri === undefined) return params
    const pushed = await kit.records.get(uri, stored)
    return pushed?.client_id === params.client_id ? pushed : undefined
  }
  return definePlugin('authorization-sketch', [
    sealing,
    defineEndpoint({
      name: 'pushedAuthorization',
      path: '/connect/par',
      metadataName: 'pushed_authorization_request_endpoint',
      methods: ['POST'],
      caller: 'client',
      readsProofs: true,
      params: v.omit(authorizationParams, ['client_id']),
      async handle({ caller, params }, kit) {
        const request = { ...params, client_id: caller.clientId }
        await kit.openAuthorization(proposed(request))
        const uri = urnPrefix + kit.randomId()
        await kit.records.put(uri, present(request), kit.now() + 60)
        return { status: 201, json: { request_uri: uri, expires_in: 60 } }
      },
    }),
    defineEndpoint({
      name: 'authorization',
      path: '/connect/authorize',
      metadataName: 'authorization_endpoint',
      methods: ['GET', 'POST'],
      caller: 'anyone',
      params: authorizationParams,
      async handle({ params }, kit) {
        const request = await requested(params, kit)
        if (request === undefined) {
          const reason = 'plugin:authorization-sketch:request_unknown'
          throw new OAuthError('invalid_request', 'The request is not known', { reason })
        }
        await kit.openAuthorization(proposed(request))
        const sealed = await kit.seal(present(request), kit.now() + 600)
        return { location: loginPage, cookies: [`__Host-request=${sealed}; Path=/; HttpOnly; Secure; SameSite=Lax`] }
      },
    }),
    defineEndpoint({
      name: 'login',
      path: '/connect/login',
      methods: ['POST'],
      caller: 'anyone',
      params: v.object({ username: v.string(), password: v.string() }),
      async handle({ params, request }, kit) {
        const cookie = /__Host-request=([^;]+)/u.exec(request.header('cookie') ?? '')?.[1] ?? ''
        const asked = await kit.unseal(cookie, stored)
        const { clientAddress } = request
        const subject = asked && (await kit.authenticateUser(params, { clientAddress, clientId: asked.client_id }))
        if (asked === undefined || subject === undefined) return { html: '<h1>Log in again</h1>' }
        const proposal = await kit.openAuthorization({ ...proposed(asked), nonce: asked.nonce })
        const code = await kit.authorize(proposal, { subject })
        const response = new URLSearchParams({ code, iss: kit.issuer, state: asked.state ?? '' })
        return { location: `${asked.redirect_uri}?${response}` }
      },
    }),
  ])
}

const registered = v.object({ clientId: v.string(), redirectUris: v.array(v.string()) })

/** Dynamic registration of public clients (RFC 7591). */
export const dynamicRegistration = (): Plugin =>
  definePlugin('registration-sketch', [
    defineEndpoint({
      name: 'registration',
      path: '/connect/register',
      metadataName: 'registration_endpoint',
      methods: ['POST'],
      body: 'json',
      caller: 'token',
      scope: 'register',
      params: v.object({ redirect_uris: v.array(v.string()) }),
      async handle({ params: { redirect_uris: redirectUris } }, kit) {
        const clientId = kit.randomId()
        await kit.records.put(clientId, { clientId, redirectUris }, kit.now() + 86_400)
        return { status: 201, json: { client_id: clientId, redirect_uris: redirectUris } }
      },
    }),
    defineClientSource({
      async find(clientId, kit): Promise<ClientOptions | undefined> {
        const client = await kit.records.get(clientId, registered)
        return client && { ...client, public: true, grantTypes: ['authorization_code'], scopes: ['openid', 'api1'] }
      },
    }),
  ])
