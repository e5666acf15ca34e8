import { codeClient, type FindingCase, healthy, strong, withClient } from './configurations.ts'

const cheap = '$scrypt$ln=10,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0'

/** The server, its keys and users, and what a start would refuse. */
export const serverCases: readonly FindingCase[] = [
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
    'the anonymous validation endpoint',
    { ...healthy, endpoints: {} },
    { id: 'anonymous-validation', where: 'endpoints.accessTokenValidation' },
  ],
  [
    'a code client without a redirect URI',
    withClient({ grantTypes: ['authorization_code'] }),
    { id: 'configuration-invalid', severity: 'error' },
  ],
  [
    'a cheap password hash',
    { ...healthy, users: [{ sub: '1', username: 'alice', password: cheap }] },
    { id: 'password-hash-cheap', where: 'users[0].password' },
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
