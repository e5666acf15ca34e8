import type { AtomicDriver, Plugins } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, sha256Of, storeGrant, testClient } from '@grantry/testing'

export const [clientId, secret] = testClient
const redirectUri = 'https://client.example.com/callback'
const scopes = ['openid', 'offline_access', 'orders', 'orders:write', 'mail']

export const orders = 'https://orders.example.com'
export const mail = 'https://mail.example.com'

/** Two APIs: `orders` with two scopes, and `mail`. */
export async function setUp(plugins: Plugins, storage?: AtomicDriver, clientGrant: Plugins = clientCredentials()) {
  const f = await createTestProvider({
    storage,
    plugins: [authorizationCode(), clientGrant, refreshToken(), plugins],
    scopes: [
      { name: 'orders', audience: orders },
      { name: 'orders:write', audience: orders },
      { name: 'mail', audience: mail },
    ],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: ['authorization_code', 'client_credentials', 'refresh_token'],
        scopes,
        redirectUris: [redirectUri],
        refreshToken: { retryWindow: 0 },
      },
    ],
    users: { isActive: () => true },
  })
  const subject = { sub: 'alice', amr: ['pwd'] }
  return {
    ...f,
    code: (params: Record<string, string> = {}) =>
      storeGrant(f.provider, { kind: 'code', clientId, redirectUri, subject, scopes, params }),
    redeem: (code: string, more: Record<string, string> = {}) =>
      f.post('token', { grant_type: 'authorization_code', redirect_uri: redirectUri, code, ...more }, testClient),
    refresh: (token: string, more: Record<string, string> = {}) =>
      f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, testClient),
  }
}
