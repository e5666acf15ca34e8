import { hashPassword } from 'grantry'
import { createKey } from '../../client-assertion/assertions.ts'
import { client, type HealthyCase, healthy, withPlugin } from './configurations.ts'

const { jwk } = await createKey()
export const keyClient = { ...client, secrets: [], jwks: { keys: [jwk] } }
export const device = { name: 'device-authorization', verificationUri: 'https://login.example.com/device' }
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export const withFapi2 = {
  ...healthy,
  clients: [
    {
      ...keyClient,
      profile: 'fapi2',
      tokenEndpointAuthAudience: 'issuer',
      tokenEndpointAuthMethod: 'private_key_jwt',
      tokenEndpointAuthSigningAlg: 'ES256',
      dpopBoundAccessTokens: true,
      requirePushedAuthorizationRequests: true,
      requirePkce: true,
    },
  ],
  users: [{ sub: '1', username: 'alice', password: await hashPassword('alice-password') }],
  plugins: [{ name: 'client-assertion' }, { name: 'dpop' }, { name: 'fapi2' }, { name: 'sign-in' }],
}

/** Plugins without a finding. */
export const healthyPlugins: readonly HealthyCase[] = [
  [
    'device-authorization',
    withPlugin(device, { ...client, clientId: 'tv', secrets: [], public: true, grantTypes: [deviceGrant] }),
  ],
  ['a page on this machine', withPlugin({ ...device, verificationUri: 'http://127.0.0.1:3000/device' })],
  [
    'client-assertion',
    withPlugin(
      { name: 'client-assertion' },
      { ...keyClient, clientId: 'service', tokenEndpointAuthMethod: 'private_key_jwt' },
    ),
  ],
  ['dpop', { ...withPlugin({ name: 'dpop', nonce: true }), clients: [{ ...client, dpopBoundAccessTokens: true }] }],
  ['fapi2', withFapi2],
  [
    'fapi2 with refresh tokens, which are not rotated',
    {
      ...withFapi2,
      clients: withFapi2.clients.map((client) => ({
        ...client,
        grantTypes: ['authorization_code', 'refresh_token'],
        redirectUris: ['https://web.example.com/cb'],
        scopes: [...client.scopes, 'offline_access'],
        refreshToken: { usage: 'reuse' },
      })),
    },
  ],
  [
    'client-metadata',
    {
      ...healthy,
      clients: [client],
      plugins: [
        { name: 'client-metadata', scopes: ['openid', 'api1', 'mcp:tools'] },
        { name: 'resource-indicators' },
        { name: 'sign-in' },
      ],
      users: withFapi2.users,
      scopes: [
        { ...healthy.scopes[0], audience: 'https://api1.example.com' },
        { name: 'mcp:tools', audience: 'https://mcp.example.com/mcp', default: true },
      ],
    },
  ],
  ['jwt-introspection', withPlugin({ name: 'jwt-introspection' })],
  [
    'resource-indicators',
    {
      ...withPlugin({ name: 'resource-indicators' }),
      scopes: [{ ...healthy.scopes[0], audience: 'https://api1.example.com' }],
    },
  ],
]
