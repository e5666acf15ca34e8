import { codeClient, type FindingCase, withClient } from './configurations.ts'

/** Clients, as in `check-clients.ts`. */
export const clientCases: readonly FindingCase[] = [
  [
    'plain PKCE',
    withClient({ ...codeClient, allowPlainPkce: true }),
    { id: 'plain-code-challenge', where: 'clients[0].allowPlainPkce' },
  ],
  [
    'the password grant',
    withClient({ grantTypes: ['client_credentials', 'password'] }),
    { id: 'password-grant', where: 'clients[0].grantTypes[1]' },
  ],
  [
    'a wildcard',
    withClient({ ...codeClient, redirectUris: ['https://*.example.com/cb'] }),
    { id: 'redirect-wildcard', severity: 'error', where: 'clients[0].redirectUris[0]' },
  ],
  [
    'a redirect URI of localhost',
    withClient({ ...codeClient, redirectUris: ['https://web.example.com', 'http://localhost:3000/cb'] }),
    { id: 'redirect-localhost', severity: 'info', where: 'clients[0].redirectUris[1]' },
  ],
  [
    'a redirect URI without TLS',
    withClient({ ...codeClient, redirectUris: ['https://web.example.com', 'http://web.example.com/cb'] }),
    { id: 'redirect-without-tls', severity: 'error', where: 'clients[0].redirectUris[1]' },
  ],
  [
    'a redirect URI without TLS, with a scheme in capitals',
    withClient({ ...codeClient, redirectUris: ['HTTP://web.example.com/cb'] }),
    { id: 'redirect-without-tls', where: 'clients[0].redirectUris[0]' },
  ],
  [
    'a redirect URI that only starts like loopback',
    withClient({ ...codeClient, redirectUris: ['http://127.0.0.1.example.com/cb'] }),
    { id: 'redirect-without-tls' },
  ],
  [
    'an origin without TLS',
    withClient({ allowedCorsOrigins: ['http://web.example.com'] }),
    { id: 'cors-without-tls', where: 'clients[0].allowedCorsOrigins[0]' },
  ],
  [
    'an access token lifetime of a day',
    withClient({ accessTokenLifetime: 86_400 }),
    { id: 'access-token-lives-long', where: 'clients[0].accessTokenLifetime' },
  ],
  [
    'a code lifetime of an hour',
    withClient({ ...codeClient, authorizationCodeLifetime: 3600 }),
    { id: 'code-lives-long' },
  ],
  [
    'a refresh token lifetime of a year',
    withClient({
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: codeClient.redirectUris,
      scopes: ['api1', 'offline_access'],
      refreshToken: { absoluteLifetime: 31_536_000, slidingLifetime: 31_536_000 },
    }),
    { id: 'refresh-token-lives-long', where: 'clients[0].refreshToken' },
  ],
  [
    'a refresh token that is not rotated',
    withClient({
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: codeClient.redirectUris,
      scopes: ['api1', 'offline_access'],
      refreshToken: { usage: 'reuse' },
    }),
    { id: 'refresh-token-reused' },
  ],
  [
    'a grace for refresh tokens of a client with a secret',
    withClient({ ...codeClient, refreshToken: { gracePeriod: 1800, unasked: 'always' } }),
    { id: 'refresh-token-grace', where: 'clients[0].refreshToken.gracePeriod' },
  ],
  [
    'a client without a grant type',
    withClient({ grantTypes: [] }),
    { id: 'client-cannot-succeed', where: 'clients[0]' },
  ],
  [
    'a client whose refresh tokens are useless',
    withClient({ ...codeClient, scopes: ['api1', 'offline_access'] }),
    { id: 'client-cannot-succeed', where: 'clients[0].scopes' },
  ],
]
