import type { Finding } from '../../../packages/server/src/check-rules/rule.ts'
import { client, hashed, healthy, strong } from './configurations.ts'

export const withClient = (more: object) => ({ ...healthy, clients: [{ ...client, ...more }] })
const codeClient = { grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/cb'] }
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
const cheap = '$scrypt$ln=10,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0'

export type FindingCase = readonly [what: string, content: unknown, found: Partial<Finding>]

/** A configuration and the expected finding. */
export const findingCases: readonly FindingCase[] = [
  [
    'an issuer without TLS',
    { ...healthy, issuer: 'http://id.example.com' },
    { id: 'configuration-invalid', severity: 'error' },
  ],
  [
    'a loopback issuer',
    { ...healthy, issuer: 'http://127.0.0.1:8484' },
    { id: 'issuer-loopback', severity: 'info', where: 'issuer' },
  ],
  [
    'a public issuer without a proxy',
    { ...healthy, trustedProxies: 0 },
    { id: 'trusted-proxies-zero', where: 'trustedProxies' },
  ],
  [
    'the secret of the demo',
    withClient({ secrets: [hashed('demo-secret')] }),
    { id: 'secret-weak', severity: 'error', where: 'clients[0].secrets[0]' },
  ],
  ['an empty secret', withClient({ secrets: [hashed('')] }), { id: 'secret-weak', where: 'clients[0].secrets[0]' }],
  [
    'a short secret as SHA-512',
    withClient({ secrets: [hashed(strong('web')), hashed('ab1', 'sha512')] }),
    { id: 'secret-weak', where: 'clients[0].secrets[1]' },
  ],
  ['the client id as the secret', withClient({ secrets: [hashed('web')] }), { id: 'secret-weak' }],
  [
    'an API secret that is its name and a word',
    { ...healthy, scopes: [{ name: 'api1', secrets: [hashed('api1-secret')] }] },
    { id: 'secret-weak', where: 'scopes[0].secrets[0]' },
  ],
  [
    'a secret with two owners',
    { ...healthy, scopes: [{ name: 'api1', secrets: client.secrets }] },
    { id: 'secret-shared', where: 'scopes[0].secrets[0]' },
  ],
  [
    'an expired secret',
    withClient({ secrets: [{ ...hashed(strong('old')), expiresAt: '2020-01-01T00:00:00Z' }, ...client.secrets] }),
    { id: 'secret-expired', severity: 'warning', where: 'clients[0].secrets[0]' },
  ],
  [
    'a secret that expires soon',
    withClient({ secrets: [{ ...hashed(strong('web')), expiresAt: inDays(10) }] }),
    { id: 'secret-expires-soon', where: 'clients[0].secrets[0]' },
  ],
  [
    'no valid secret',
    withClient({ secrets: [{ ...hashed(strong('web')), expiresAt: inDays(-1) }] }),
    { id: 'secret-none-live', severity: 'error', where: 'clients[0].secrets' },
  ],
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
    'the anonymous validation endpoint',
    { ...healthy, endpoints: {} },
    { id: 'anonymous-validation', where: 'endpoints.accessTokenValidation' },
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
    'a code client without a redirect URI',
    withClient({ grantTypes: ['authorization_code'] }),
    { id: 'configuration-invalid', severity: 'error' },
  ],
  [
    'a client whose refresh tokens are useless',
    withClient({ ...codeClient, scopes: ['api1', 'offline_access'] }),
    { id: 'client-cannot-succeed', where: 'clients' },
  ],
  [
    'a scope that no client may request',
    { ...healthy, scopes: [...healthy.scopes, { name: 'api2', audience: 'https://api2.example.com' }] },
    { id: 'scope-unused', severity: 'info', where: 'scopes[1]' },
  ],
  [
    'two APIs, one without an audience',
    {
      ...withClient({ scopes: ['api1', 'api2'] }),
      scopes: [{ name: 'api1', audience: 'https://api1.example.com' }, { name: 'api2' }],
    },
    { id: 'scope-without-audience', where: 'scopes[1].audience' },
  ],
  [
    'a scope of two APIs, and no plugin that reads which one a request is for',
    {
      ...withClient({ scopes: ['read'] }),
      scopes: [{ name: 'read', audience: ['https://api1.example.com', 'https://api2.example.com'] }],
    },
    { id: 'plugin-missing', where: 'scopes[0].audience' },
  ],
  [
    'a cheap password hash',
    { ...healthy, users: [{ sub: '1', username: 'alice', password: cheap }] },
    { id: 'password-hash-cheap', where: 'users[0].password' },
  ],
  [
    'memory with a public issuer',
    { ...healthy, storage: { driver: 'memory' } },
    { id: 'store-forgets', where: 'storage.driver' },
  ],
  [
    'filesystem without fsync',
    { ...healthy, storage: { driver: 'filesystem', directory: './data', fsync: false } },
    { id: 'store-without-fsync', where: 'storage.fsync' },
  ],
  [
    'SQLite without a flush',
    { ...healthy, storage: { driver: 'sqlite', file: './data/grantry.db', synchronous: 'normal' } },
    { id: 'store-without-fsync', where: 'storage.synchronous' },
  ],
  [
    'an unreachable PostgreSQL that need not be durable',
    {
      ...healthy,
      storage: {
        driver: 'postgresql',
        url: 'postgresql://grantry@127.0.0.1:1/id',
        durability: 'relaxed',
        operationTimeout: 0.1,
      },
    },
    { id: 'store-without-fsync', where: 'storage.durability' },
  ],
  [
    'Sentinels without waitReplicas',
    {
      ...healthy,
      storage: { driver: 'redis', sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'tokens', operationTimeout: 0.1 },
    },
    { id: 'store-without-replicas', where: 'storage.waitReplicas' },
  ],
  [
    'an unreachable Redis',
    { ...healthy, storage: { driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 } },
    { id: 'store-unusable', severity: 'error', where: 'storage' },
  ],
  [
    'a directory of another user',
    { ...healthy, storage: { driver: 'filesystem', directory: '.' } },
    { id: 'store-unusable', severity: 'error' },
  ],
  [
    'a client that signs users in, and a key file without an RSA key',
    withClient({ ...codeClient, scopes: ['openid', 'api1'] }),
    { id: 'openid-algorithm-missing', severity: 'warning', where: 'keys.jwks' },
  ],
  [
    'a client that signs users in, and ES256 alone',
    {
      ...withClient({ ...codeClient, scopes: ['openid', 'api1'] }),
      keys: { algorithm: 'ES256', encryptionSecret: strong('keys') },
    },
    { id: 'openid-algorithm-missing', severity: 'warning', where: 'keys.algorithms' },
  ],
  ['an invalid configuration', { ...healthy, isuer: 'x' }, { id: 'configuration-invalid', severity: 'error' }],
  ['an invalid client', withClient({ redirectUris: ['https://web.example.com/#x'] }), { id: 'configuration-invalid' }],
  ['a wildcard origin', withClient({ allowedCorsOrigins: ['*'] }), { id: 'configuration-invalid' }],
  ['invalid JSON', '{ "issuer": ', { id: 'configuration-invalid' }],
]
