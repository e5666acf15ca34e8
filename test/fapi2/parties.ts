import type { ClientOptions, ProviderOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { dpop } from '@grantry/plugins/dpop'
import { type Fapi2Options, fapi2 } from '@grantry/plugins/fapi2'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, read, type TestProvider } from '@grantry/testing'
import { hostSignIn } from '../authorization/parties.ts'
import { tokenUrl } from '../dpop/parties.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'

export const key = await createIssuerKey('client-key')
export const redirectUri = 'https://client.example.com/callback'

/** A client that meets the profile. */
export const client = {
  clientId: 'bank-app',
  profile: 'fapi2',
  jwks: { keys: [key.jwk] },
  tokenEndpointAuthMethod: 'private_key_jwt',
  tokenEndpointAuthAudience: 'issuer',
  tokenEndpointAuthSigningAlg: 'ES256',
  dpopBoundAccessTokens: true,
  requirePushedAuthorizationRequests: true,
  requirePkce: true,
  grantTypes: ['client_credentials', 'authorization_code', 'refresh_token'],
  scopes: ['openid', 'offline_access', 'api1'],
  redirectUris: [redirectUri],
  refreshToken: { usage: 'reuse' },
  identityTokenAlgorithm: 'ES256',
} as const satisfies ClientOptions

export const grants = [
  clientCredentials(),
  authorizationCode(),
  refreshToken(),
  proofKey(),
  authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization()] }),
]
export const start = (
  clients: readonly ClientOptions[],
  options: Fapi2Options = {},
  more: Partial<ProviderOptions> = {},
) => createTestProvider({ plugins: [grants, clientAssertion(), dpop(), fapi2(options)], clients, ...more })

let assertions = 0

/** Sends a request for tokens with an assertion and, unless it is left out, a proof. */
export async function request(
  { provider, events }: TestProvider,
  form: Readonly<Record<string, string>>,
  {
    proof,
    aud = provider.issuer,
    url = tokenUrl,
  }: { readonly proof?: string | undefined; readonly aud?: unknown; readonly url?: string } = {},
) {
  assertions += 1
  const times = { iat: 1_800_000_000, exp: 1_800_000_060 }
  const claims = { iss: client.clientId, sub: client.clientId, aud, jti: `${assertions}`, ...times }
  const credentials = {
    client_assertion: await key.sign(claims),
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  }
  const body = new URLSearchParams({ ...form, ...credentials })
  const headers = proof === undefined ? {} : { dpop: proof }
  const response = await read(await provider.fetch(new Request(url, { method: 'POST', body, headers })))
  const last = events.at(-1)
  return { ...response, reason: last?.type === 'endpoint_failed' ? last.reason : undefined }
}
