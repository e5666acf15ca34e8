import { type ClientOptions, collectParts, type Plugins, type ProviderOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type TokenExchangeOptions, tokenExchange } from '@grantry/plugins/token-exchange'
import {
  basic,
  type Credentials,
  createTestProvider,
  type NewGrant,
  read,
  sha256Of,
  storeGrant,
} from '@grantry/testing'
import { createIssuerKey } from '../support/trusted-issuer.ts'

// The parties of the examples in RFC 8693, section 2.3 and appendix A.
export const issuer = 'https://as.example.com'
export const originalIssuer = 'https://original-issuer.example.net'
export const backend = 'https://backend.example.com/api'
export const context = 'urn:example:cooperation-context'
export const frontend = 'https://frontend.example.com/resource'

export const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const typeOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`

/** The client that users log in to. */
export const app: Credentials = ['app', 'app-secret']
/** The API that exchanges tokens, as in section 2.3. */
export const service: Credentials = ['rs08', 'long-secure-random-secret']

/** What a client learns about a token that cannot be exchanged. */
export const refused = { error: 'invalid_request', error_description: 'The token cannot be exchanged' }

export const originalKey = await createIssuerKey('16')

const redirectUri = 'https://app.example.com/callback'
/** The scopes of the examples in appendix A. */
const cooperation = ['orders', 'profile-data', 'history', 'status', 'feed']

const client = (
  [clientId, secret]: Credentials,
  grantTypes: string[],
  scopes: readonly string[],
  more: Partial<ClientOptions> = {},
): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes,
  scopes: ['openid', 'offline_access', ...scopes],
  redirectUris: [redirectUri],
  ...more,
})

const scopeOf = (name: string, audience: string) => ({
  name,
  audience,
  secrets: [{ sha256: sha256Of(`${name}-secret`) }],
})

/** A provider with `app` and `service`. Unless `settings` has a policy, every exchange is allowed. */
export async function setUp(
  settings: TokenExchangeOptions = {},
  more?: Plugins,
  options: Partial<ProviderOptions> = {},
) {
  const plugins: Plugins = [
    authorizationCode(),
    clientCredentials(),
    refreshToken(),
    tokenExchange({
      allow: () => true,
      issuers: [{ issuer: originalIssuer, jwks: { keys: [originalKey.jwk] } }],
      subject: ({ sub, iss }) => ({ sub, amr: ['exchange'], idp: iss }),
      ...settings,
    }),
    more,
  ]
  const grantTypes = collectParts(plugins).flatMap(({ part }) => (part.kind === 'grant' ? [part.grantType] : []))
  const f = await createTestProvider({
    issuer,
    plugins,
    scopes: [scopeOf('front', frontend), scopeOf('api', backend), ...cooperation.map((name) => scopeOf(name, context))],
    clients: [
      client(app, grantTypes, ['front', 'api'], { accessTokenLifetime: 600 }),
      client(service, grantTypes, ['front', 'api', ...cooperation]),
    ],
    ...options,
  })

  async function logIn(grant: Partial<NewGrant> = {}) {
    const code = await storeGrant(f.provider, {
      kind: 'code',
      clientId: app[0],
      redirectUri,
      subject: { sub: 'bdc@example.com', amr: ['pwd'], authTime: f.clock.now() - 5 },
      scopes: ['openid', 'offline_access', 'front', 'api'],
      ...grant,
    })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    return (await f.post('token', form, app)).body
  }

  /** Sends a form as it is on the wire, where `resource` and `audience` can repeat. */
  async function post(
    form: string | Readonly<Record<string, string>>,
    as: Credentials = service,
    endpoint: 'token' | 'revocation' = 'token',
  ) {
    const headers = { authorization: basic(as), 'content-type': 'application/x-www-form-urlencoded' }
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString()
    const request = new Request(`${issuer}/connect/${endpoint}`, { method: 'POST', headers, body })
    const response = await read(await f.provider.handlers[endpoint](request))
    const last = f.events.at(-1)
    return { ...response, failure: last?.type === 'endpoint_failed' ? last.reason : undefined }
  }

  const formOf = (token: string, more: Readonly<Record<string, string>>) => ({
    grant_type: grantType,
    subject_token: token,
    subject_token_type: typeOf('access_token'),
    ...more,
  })
  return {
    ...f,
    logIn,
    post,
    clientToken: async (as: Credentials) =>
      String((await f.post('token', { grant_type: 'client_credentials', scope: 'front' }, as)).body.access_token),
    /** Exchanges an access token, unless `more` has another type. */
    exchange: (token: string, more: Readonly<Record<string, string>> = {}, as?: Credentials) =>
      post(formOf(token, more), as),
    /** The claims of an original issuer, valid for an hour. */
    originalClaims: (more: Readonly<Record<string, unknown>> = {}) => ({
      iss: originalIssuer,
      aud: issuer,
      exp: f.clock.now() + 3600,
      ...more,
    }),
  }
}
