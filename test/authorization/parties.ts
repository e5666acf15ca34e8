import { createHash } from 'node:crypto'
import type { ClientOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import {
  type AuthorizationEndpointOptions,
  authorizationEndpoint,
  type InteractionPort,
} from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type Credentials, createTestProvider, sha256Of, type TestProviderOptions } from '@grantry/testing'
import { createBrowser } from './browser.ts'

export const web: Credentials = ['web', 'web-secret']
export const redirectUri = 'https://client.example.com/callback'
export const verifier = 'a'.repeat(43)
export const challenge = createHash('sha256').update(verifier).digest('base64url')

export const clients: readonly ClientOptions[] = [
  {
    clientId: web[0],
    secrets: [{ sha256: sha256Of(web[1]) }],
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'offline_access', 'api1'],
    redirectUris: [redirectUri, 'https://client.example.com/other?tenant=1'],
  },
  { clientId: 'disabled', enabled: false, grantTypes: ['authorization_code'], redirectUris: [redirectUri] },
  {
    clientId: 'spa',
    public: true,
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'api1'],
    redirectUris: ['http://127.0.0.1/callback', 'com.example.app:/callback'],
  },
]

/** The same as applications of the operator: their refusals are redirects, also before a sign-in. */
export const trustedClients = clients.map((client) => ({ ...client, requireConsent: false }))

export const alice = { sub: 'alice', amr: ['pwd'] }

/** The request that every test varies. */
export const request = {
  client_id: web[0],
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid api1',
  state: 'af0ifjsldkj',
  nonce: 'n-0S6_WzA2Mj',
}

/** An interaction in which alice is signed in by a host, and consents to everything. */
export const hostSignIn: InteractionPort = {
  interact: ({ request: { scopes }, kit }) => ({
    subject: { ...alice, authTime: kit.now() - 100 },
    scopes,
    trusted: true,
  }),
}

export async function setUp(
  interaction: InteractionPort = hostSignIn,
  options: Partial<AuthorizationEndpointOptions> = {},
  more: Partial<TestProviderOptions> = {},
) {
  const f = await createTestProvider({
    plugins: [authorizationCode(), proofKey(), refreshToken(), authorizationEndpoint({ interaction, ...options })],
    clients: interaction === hostSignIn ? trustedClients : clients,
    ...more,
  })
  const urlOf = (parameters: Readonly<Record<string, string>>): string =>
    `${f.provider.issuer}/connect/authorize?${new URLSearchParams(parameters)}`
  const redeem = (code: string | undefined, as: Credentials = web, form: Readonly<Record<string, string>> = {}) =>
    f.post('token', { grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri, ...form }, as)
  return { ...f, urlOf, redeem, browser: () => createBrowser(f.provider) }
}
