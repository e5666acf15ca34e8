// One client, described in each way that there is, at a provider with all grant types and bindings.
import { importKeycloak } from '@grantry/administration/import'
import { type ClientOptions, defineGrant, definePlugin, signingKeys } from '@grantry/core'
import { createTenants, tenantsByPath } from '@grantry/core/tenants'
import { authorizationEndpoint, type InteractionPort } from '@grantry/plugins/authorization-endpoint'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { dpop } from '@grantry/plugins/dpop'
import { idJag } from '@grantry/plugins/id-jag'
import { jwtBearer } from '@grantry/plugins/jwt-bearer'
import { mtls } from '@grantry/plugins/mtls'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { registration } from '@grantry/plugins/registration'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { read, sha256Of, type TestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { setting } from '../admin-api/setting.ts'
import { builtInPlugins, fixture, redirectUri, scopes, testUsers } from '../support/fixture.ts'
import { read as imported } from '../support/imported.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'

export const issuer = 'https://id.example.com'
export const partner = 'https://partner.example.com'
export const idp = 'https://idp.example.com'
const documentUrl = 'https://app.example.com/client.json'
export const key = await createIssuerKey('16')
export const bearerType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const exchangeType = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const badgeType = 'urn:example:badge'
const secret = 'a secret of forty characters, at the least'

const badge = defineGrant({
  grantType: badgeType,
  params: v.object({}),
  publicClients: true,
  handle: ({ scopes: asked }) => ({ scopes: asked, subject: { sub: '1', amr: ['badge'] } }),
})

const ofPublic = ['authorization_code', 'refresh_token', deviceGrantType, badgeType]
const ofConfidential = [...ofPublic, 'client_credentials', 'password', bearerType, exchangeType]
export const scopesOfClient = ['openid', 'offline_access', 'api1']

/** The user has signed in, and has consented. */
const signedIn: InteractionPort = {
  interact: ({ request: asked, kit }) => ({
    subject: { sub: '1', amr: ['pwd'], authTime: kit.now() },
    scopes: asked.scopes,
    trusted: true,
  }),
}

const plugins = (document?: object) => [
  authorizationEndpoint({ interaction: signedIn, features: [pushedAuthorization()] }),
  dpop(),
  mtls(),
  deviceAuthorization({ verificationUri: 'https://example.com/device' }),
  jwtBearer({
    issuers: [{ issuer: partner, jwks: { keys: [key.jwk] } }],
    subject: ({ sub }) => ({ sub, amr: ['assertion'] }),
  }),
  tokenExchange({ allow: () => true }),
  idJag({
    accept: { issuers: [{ issuer: idp, jwks: { keys: [key.jwk] }, subject: 'same' }] },
    issue: {
      servers: [{ issuer: partner, resources: [`${partner}/api`], clients: [{ clientId: 'app', scopes: ['read'] }] }],
      checkSessions: false,
    },
  }),
  definePlugin('badge', [badge]),
  registration({
    scopes: scopesOfClient,
    grantTypes: ofConfidential,
    authenticationMethods: ['client_secret_basic'],
    open: true,
  }),
  clientMetadata({
    scopes: scopesOfClient,
    grantTypes: ofPublic,
    fetch: async () => Response.json(document),
  }),
]

const wireNames: Readonly<Record<string, string>> = {
  dpopBoundAccessTokens: 'dpop_bound_access_tokens',
  tlsClientCertificateBoundAccessTokens: 'tls_client_certificate_bound_access_tokens',
  requirePushedAuthorizationRequests: 'require_pushed_authorization_requests',
}
const keycloakNames: Readonly<Record<string, string>> = {
  dpopBoundAccessTokens: 'dpop.bound.access.tokens',
  tlsClientCertificateBoundAccessTokens: 'tls.client.certificate.bound.access.tokens',
  requirePushedAuthorizationRequests: 'require.pushed.authorization.requests',
}
const flags = (members: readonly string[], names: Readonly<Record<string, string>> = {}, value: unknown = true) =>
  Object.fromEntries(members.map((member) => [names[member] ?? member, value]))

/** A provider that knows the client, and how the client names itself. */
export interface Service extends Pick<TestProvider, 'provider'> {
  readonly clientId: string
  readonly secret: string | undefined
  readonly issuer?: string
  readonly passwordOfAlice?: string
}

const app: ClientOptions = {
  clientId: 'app',
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ofConfidential,
  scopes: scopesOfClient,
  redirectUris: [redirectUri],
}
const passwordOfAlice = 'correct horse battery'
const service = async (clients: readonly object[]): Promise<Service> => ({
  ...(await fixture({ clients: clients as readonly ClientOptions[], plugins: [builtInPlugins, plugins()] })),
  clientId: 'app',
  secret,
})

/** The ways to describe a client. */
export const ways: Readonly<Record<string, (demanded: readonly string[]) => Promise<Service>>> = {
  'the configuration': (demanded) => service([{ ...app, ...flags(demanded) }]),
  async 'a registration'(demanded) {
    const f = await fixture({ plugins: [builtInPlugins, plugins()] })
    const body = {
      redirect_uris: [redirectUri],
      grant_types: ofConfidential,
      token_endpoint_auth_method: 'client_secret_basic',
      ...flags(demanded, wireNames),
    }
    const { body: made } = await read(
      await f.provider.fetch(
        new Request(`${issuer}/connect/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    )
    return { ...f, clientId: made.client_id, secret: made.client_secret }
  },
  async 'a metadata document'(demanded) {
    const document = {
      client_id: documentUrl,
      redirect_uris: [redirectUri],
      grant_types: ofPublic,
      token_endpoint_auth_method: 'none',
      ...flags(demanded, wireNames),
    }
    const f = await fixture({ plugins: [builtInPlugins, plugins(document)] })
    return { ...f, clientId: documentUrl, secret: undefined }
  },
  async 'an import from Keycloak'(demanded) {
    const attributes = flags(demanded, keycloakNames, 'true')
    const { clients } = await imported(importKeycloak, { clients: [{ clientId: 'app', secret, attributes }] })
    return service(clients.map((client) => ({ ...client, ...app })))
  },
  async 'the admin API'(demanded) {
    const f = await setting({ plugins: plugins() })
    const { body } = await f.send('POST', '/clients', { body: { ...app, secrets: undefined, ...flags(demanded) } })
    return { ...f, clientId: 'app', secret: body.secret, passwordOfAlice }
  },
  async 'a change by the admin API'(demanded) {
    const f = await setting({ plugins: plugins() })
    const { body } = await f.send('POST', '/clients', { body: { ...app, secrets: undefined } })
    const headers = { 'if-match': '*', 'content-type': 'application/merge-patch+json' }
    await f.send('PATCH', '/clients/app', { body: flags(demanded), headers })
    return { ...f, clientId: 'app', secret: body.secret, passwordOfAlice }
  },
  async 'the configuration of a tenant'(demanded) {
    const at = `${issuer}/t/acme`
    const client = { ...app, ...flags(demanded) }
    const options = { issuer: at, keys: signingKeys(), clients: [client], scopes, users: testUsers().service }
    const tenants = createTenants({
      storage: memoryDriver(),
      tenantOf: tenantsByPath(),
      find: (name) => ({
        name,
        version: '1',
        open: () => ({ ...options, plugins: [builtInPlugins, plugins()], runtime: { now: () => 1_800_000_000 } }),
      }),
    })
    const provider = await new Promise<Service['provider']>((resolve) => {
      void tenants.use('acme', async (opened) => resolve(opened))
    })
    return { provider, clientId: 'app', secret, issuer: at }
  },
}
