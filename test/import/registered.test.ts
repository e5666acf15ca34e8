// `grantry import hydra` and `oidc-provider`: clients with the members of RFC 7591.
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { applied, imported, refusal, token } from './setting.ts'

const directory = sharedDirectory('import-registered')
const secret = 'oFZ4mG2hV8wQ1xY7bN5tR3kL'

/** As `hydra list clients --format json` prints clients, and `hydra create client` one with its secret. */
const hydra = {
  items: [
    {
      client_id: '2fbd1d4a-6c52-4b7c-9c3b-0a1b2c3d4e5f',
      client_name: 'Batch',
      client_secret: secret,
      client_secret_expires_at: 0,
      client_uri: '',
      created_at: '2024-01-01T00:00:00Z',
      updated_at: '2024-01-01T00:00:00Z',
      grant_types: ['client_credentials'],
      response_types: [],
      scope: 'billing offline',
      audience: [],
      owner: 'team-a',
      jwks: {},
      metadata: { tier: 'gold' },
      request_object_signing_alg: 'RS256',
      subject_type: 'public',
      token_endpoint_auth_method: 'client_secret_basic',
      userinfo_signed_response_alg: 'none',
      access_token_strategy: 'jwt',
      client_credentials_grant_access_token_lifespan: '1h30m0s',
      authorization_code_grant_id_token_lifespan: null,
      skip_consent: true,
      registration_access_token: 'ory_at_not-for-a-report',
    },
    {
      client_id: 'hashed',
      client_secret: '$pbkdf2-sha256$i=25000,l=32$c2FsdHNhbHQ$aGFzaGhhc2g',
      grant_types: ['authorization_code', 'implicit'],
      response_types: ['code', 'id_token token'],
      redirect_uris: ['https://web.example.com/callback'],
      scope: 'openid',
    },
  ],
}

/** The `clients` of a configuration of oidc-provider. */
const oidcProvider = [
  {
    client_id: 'api-client',
    client_secret: secret,
    grant_types: ['client_credentials', 'urn:openid:params:grant-type:ciba'],
    response_types: [],
    redirect_uris: [],
    scope: 'read',
    token_endpoint_auth_method: 'client_secret_post',
    id_token_encrypted_response_alg: 'RSA-OAEP',
  },
  {
    client_id: 'spa',
    token_endpoint_auth_method: 'none',
    application_type: 'web',
    redirect_uris: ['https://spa.example.com/cb', 'https://spa.example.com/#fragment'],
    post_logout_redirect_uris: ['https://spa.example.com/'],
    require_pushed_authorization_requests: true,
    id_token_signed_response_alg: 'HS256',
  },
]

test('clients of Ory Hydra', async () => {
  const { file, text, declared, report } = await imported(directory, 'hydra', hydra)
  expect(text).not.toContain(secret)
  expect(declared.scopes).toEqual([{ name: 'billing' }])
  expect(declared.clients[0]).toMatchObject({
    scopes: ['billing', 'offline_access'],
    accessTokenFormat: 'jwt',
    accessTokenLifetime: 5400,
    tokenEndpointAuthMethod: 'client_secret_basic',
    requireConsent: false,
  })
  const batch = '2fbd1d4a-6c52-4b7c-9c3b-0a1b2c3d4e5f'
  for (const line of [
    `client ${batch}: owner: has no counterpart`,
    `client ${batch}: metadata: has no counterpart`,
    `client ${batch}: registration_access_token: has no counterpart`,
    'client hashed: client_secret: is a hash that cannot be taken over (only SHA-256 and SHA-512 can); the client gets a new secret',
    'client hashed: grant_types: the grant type implicit has no counterpart',
    'client hashed: response_types: the response type id_token token has no counterpart',
  ]) {
    expect(report).toContain(line)
  }
  for (const hidden of [secret, 'ory_at_not-for-a-report', '$pbkdf2']) expect(report.join('\n')).not.toContain(hidden)
  const form = { grant_type: 'client_credentials', scope: 'billing' }
  const bodies = await applied(directory, file, [
    [[batch, secret], form],
    [['hashed', secret], form],
  ])
  expect(bodies).toEqual([token, refusal('invalid_client')])
})

test('clients of oidc-provider', async () => {
  const { file, declared, report } = await imported(directory, 'oidc-provider', oidcProvider)
  expect(declared.clients[1]).toEqual({
    clientId: 'spa',
    public: true,
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: ['https://spa.example.com/cb'],
    postLogoutRedirectUris: ['https://spa.example.com/'],
    requirePushedAuthorizationRequests: true,
    accessTokenFormat: 'reference',
  })
  for (const line of [
    'client api-client: grant_types: the grant type urn:openid:params:grant-type:ciba has no counterpart',
    'client api-client: id_token_encrypted_response_alg: has no counterpart',
    'client spa: id_token_signed_response_alg: the algorithm HS256 has no counterpart; the client gets the default one',
    'client spa: the configuration needs the plugin sign-in',
  ]) {
    expect(report).toContain(line)
  }
  const form = { grant_type: 'client_credentials', scope: 'read' }
  // It sends its secret in the body, and in no header.
  expect(await applied(directory, file, [[['api-client', secret], form]])).toEqual([refusal('invalid_client')])
  const post = { ...form, client_id: 'api-client', client_secret: secret }
  expect(await applied(directory, file, [[undefined, post]])).toEqual([token])
})

test('a client without scopes, which may have all of them, can sign users in', async () => {
  // The first example in the documentation of oidc-provider.
  const client = {
    client_id: 'oidcCLIENT',
    client_secret: '91c13d27b8e84f0baec0a2f4b8cbdd9a',
    grant_types: ['refresh_token', 'authorization_code'],
    redirect_uris: ['http://sso-client.dev/providers/7/open_id', 'http://sso-client.dev/providers/8/open_id'],
  }
  const { declared, report } = await imported(directory, 'oidc-provider', [client])
  expect(declared.clients).toMatchObject([{ scopes: ['openid', 'offline_access'] }])
  expect(report).toContain(
    'client oidcCLIENT: scope: is missing, and stands for all scopes there; the client gets openid offline_access: add those that it needs',
  )
})

test('an export without users or scopes does not declare that there are none: --prune would remove them all', async () => {
  const { declared } = await imported(directory, 'hydra', { items: [{ client_id: 'batch', scope: '' }] })
  expect(Object.keys(declared)).toEqual(['clients'])
})
