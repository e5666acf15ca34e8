import { type ClientOptions, createProvider, type Handler, type Provider, type Runtime } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of, storeGrant } from '@grantry/testing'
import { builtInPlugins, clients, proof, redirectUri, scopes, testUsers } from '../support/fixture.ts'
import { pages } from './pages.ts'

export const issuer = 'https://id.example.com'

/** A published test key. Every runtime signs with it, so that responses can be compared. */
export const signingKey = {
  kty: 'EC',
  crv: 'P-256',
  x: 'K-olgGQovT7BoPS7sqArJgcnoCYDVsZgQg7L_prOcNM',
  y: '9bP3-LD2X-59jJPSCjjLPuUDdmFoNlj7mb9muWhL6UM',
  d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X3fCE9-E9LI',
  alg: 'ES256',
  kid: 'contract',
} as const

/** Id, secret and password with non-ASCII characters, one of them four bytes in UTF-8. */
export const unicode = {
  id: 'buero (1)',
  secret: 'schlüssel 😀:%2B',
  user: 'zoë',
  password: 'pä ss+wörd & 😀',
} as const

/** A client without a retry window: the second use of a refresh token is a replay. */
export const strict = { id: 'strict', secret: 'strict-secret' } as const

/** A client that can retry on a machine that is so busy that the usual ten seconds pass between two requests. */
const patient = (client: ClientOptions): ClientOptions =>
  client.grantTypes?.includes('refresh_token')
    ? { ...client, refreshToken: { retryWindow: 300, ...client.refreshToken } }
    : client

const more: readonly ClientOptions[] = [
  {
    clientId: unicode.id,
    secrets: [{ sha256: sha256Of(unicode.secret) }],
    grantTypes: ['client_credentials', 'password'],
    scopes: ['openid', 'profile', 'api1'],
  },
  {
    clientId: strict.id,
    secrets: [{ sha256: sha256Of(strict.secret) }],
    grantTypes: ['password', 'refresh_token'],
    scopes: ['offline_access', 'api1'],
    accessTokenFormat: 'reference',
    refreshToken: { retryWindow: 0 },
  },
]

/** An extra path that issues a code, as the login page of a host does. The query selects the public or the confidential client. */
export const codePath = '/local/code'

const codeFor = (provider: Provider): Handler => {
  return async (request) => {
    const isPublic = request.url.includes('public')
    const code = await storeGrant(provider, {
      kind: 'code',
      clientId: isPublic ? 'spa' : 'web',
      redirectUri,
      scopes: ['openid', 'profile', 'offline_access', 'api1'],
      subject: { sub: '1', amr: ['pwd'] },
      nonce: 'n-0S6_WzA2Mj',
      ...(isPublic && { params: { code_challenge: proof.challenge, code_challenge_method: 'S256' } }),
    })
    return Response.json({ code })
  }
}

/** An extra path that returns the address of the caller as the adapter reports it. */
export const addressPath = '/local/address'

const address: Handler = async (_request, connection) => Response.json({ address: connection?.clientAddress ?? null })

/** The `trustedProxies` setting of every program. */
export const trustedProxies = 1

/** The provider and the two extra paths. Every program serves one. */
export interface ContractProvider {
  readonly issuer: string
  readonly metadata: Provider['metadata']
  readonly fetch: Handler
  route(request: Request): Handler | undefined
}

/** Creates the same provider on every runtime: fixed clients, scopes, users and key, with records in memory. */
export async function contractProvider(runtime: Partial<Runtime> = {}): Promise<ContractProvider> {
  const { service } = testUsers()
  const provider = await createProvider({
    issuer,
    keys: [signingKey],
    storage: memoryDriver(),
    clients: [...clients.map(patient), ...more],
    scopes,
    users: {
      ...service,
      authenticate: (credentials, context) =>
        credentials.username === unicode.user
          ? credentials.password === unicode.password
            ? { sub: '2' }
            : undefined
          : service.authenticate?.(credentials, context),
    },
    plugins: [builtInPlugins, pages],
    runtime,
    observe: () => {},
  })
  const code = codeFor(provider)
  const route = (request: Request): Handler | undefined => {
    if (request.url.includes(codePath)) return code
    return request.url.includes(addressPath) ? address : provider.route(request)
  }
  return {
    issuer,
    metadata: provider.metadata,
    route,
    fetch: (request, connection) => (route(request) ?? provider.fetch)(request, connection),
  }
}
