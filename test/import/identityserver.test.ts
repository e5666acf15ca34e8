// `grantry import identityserver`: clients of IdentityServer 3 and 4 and Duende, whose secrets are hashes.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { applied, imported, refusal, token } from './setting.ts'

const directory = sharedDirectory('import-identityserver')
const hash = (secret: string, algorithm = 'sha256') => createHash(algorithm).update(secret).digest('base64')

const duende = {
  IdentityServer: {
    IdentityResources: [
      { Name: 'openid', UserClaims: ['sub'] },
      { Name: 'company', UserClaims: ['department'] },
    ],
    ApiScopes: [
      { Name: 'invoice.read', DisplayName: 'Read invoices' },
      { Name: 'invoice.pay', Properties: { a: 'b' } },
    ],
    ApiResources: [
      {
        Name: 'invoice',
        Scopes: ['invoice.read', 'invoice.pay'],
        UserClaims: ['role'],
        ApiSecrets: [{ Value: hash('api') }],
      },
    ],
    Clients: [
      {
        Enabled: true,
        ClientId: 'machine',
        ProtocolType: 'oidc',
        ClientSecrets: [
          { Type: 'SharedSecret', Value: hash('a-secret-of-the-machine') },
          { Type: 'SharedSecret', Value: hash('a-longer-hash', 'sha512'), Expiration: '2037-01-01T00:00:00' },
          { Type: 'SharedSecret', Value: 'plain' },
          { Type: 'X509Thumbprint', Value: 'AB12' },
        ],
        AllowedGrantTypes: ['client_credentials'],
        AllowedScopes: ['invoice.read'],
        AccessTokenType: 1,
        AccessTokenLifetime: 1200,
        Claims: [{ Type: 'tenant', Value: '1' }],
        AlwaysSendClientClaims: false,
      },
      {
        clientId: 'interactive',
        clientSecrets: [{ value: hash('a-secret-of-the-web') }],
        allowedGrantTypes: ['hybrid'],
        redirectUris: ['https://web.example.com/signin-oidc'],
        postLogoutRedirectUris: ['https://web.example.com/signout-callback-oidc'],
        frontChannelLogoutUri: 'https://web.example.com/signout-oidc',
        allowOfflineAccess: true,
        allowedScopes: ['openid', 'company', 'invoice.pay'],
        refreshTokenUsage: 'ReUse',
        refreshTokenExpiration: 'Sliding',
        slidingRefreshTokenLifetime: 3600,
      },
    ],
  },
}

/** A client as IdentityServer 3 stores it. */
const third = [
  {
    Enabled: true,
    ClientId: 'legacy',
    ClientSecrets: [{ Value: hash('a-secret-of-the-legacy') }],
    Flow: 4,
    AllowedScopes: ['api1'],
    RequireConsent: true,
    AllowAccessToAllScopes: false,
    PrefixClientClaims: true,
  },
  {
    ClientId: 'native',
    RequireClientSecret: false,
    Flow: 'AuthorizationCodeWithProofKey',
    RedirectUris: ['com.example.app:/'],
  },
]

test('clients of Duende IdentityServer get tokens with their present secrets', async () => {
  const { file, declared, report } = await imported(directory, 'identityserver', duende)
  expect(declared.scopes).toEqual([
    { name: 'invoice.read', audience: 'invoice', claims: ['role'], secrets: [{ sha256: hash('api') }] },
    { name: 'invoice.pay', audience: 'invoice', claims: ['role'] },
    { name: 'company', identity: true, claims: ['department'] },
  ])
  expect(declared.clients[0]).toMatchObject({ accessTokenFormat: 'reference', accessTokenLifetime: 1200 })
  expect(declared.clients[1]).toMatchObject({
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'company', 'invoice.pay', 'offline_access'],
    requirePkce: true,
    refreshToken: { usage: 'reuse', slidingLifetime: 3600 },
  })
  for (const line of [
    'API scope invoice.pay: Properties: has no counterpart',
    'API resource invoice: ApiSecrets: the API calls introspection as invoice.read now, and with its present secret',
    'client machine: ClientSecrets[2]: was left out: it is not the base64 of a SHA-256 or SHA-512',
    'client machine: ClientSecrets[3]: a secret of the type X509Thumbprint has no counterpart',
    'client machine: Claims: has no counterpart',
    'client interactive: AllowedGrantTypes: hybrid became authorization_code: the response type is code only',
    'client interactive: frontChannelLogoutUri: has no counterpart',
  ]) {
    expect(report).toContain(line)
  }
  const machine = (secret: string) =>
    [['machine', secret], { grant_type: 'client_credentials', scope: 'invoice.read' }] as const
  const requests = [machine('a-secret-of-the-machine'), machine('a-longer-hash'), machine('plain')]
  expect(await applied(directory, file, requests)).toEqual([token, token, refusal('invalid_client')])
})

test('clients of IdentityServer 3', async () => {
  const { file, declared, report } = await imported(directory, 'identityserver', third)
  expect(report).toContain('client native: has no scope, so it cannot get a token; add one to scopes')
  expect(declared.scopes).toEqual([{ name: 'api1' }])
  expect(declared.clients[1]).toEqual({
    clientId: 'native',
    public: true,
    grantTypes: ['authorization_code'],
    redirectUris: ['com.example.app:/'],
  })
  const form = { grant_type: 'password', username: 'alice', password: 'wrong', scope: 'api1' }
  expect(
    await applied(directory, file, [
      [['legacy', 'a-secret-of-the-legacy'], form],
      [['legacy', 'x'], form],
    ]),
  ).toEqual([refusal('invalid_grant'), refusal('invalid_client')])
})
