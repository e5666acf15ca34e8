import { hashPassword } from 'grantry'
import { expect } from 'vitest'
import { createKey } from '../../client-assertion/assertions.ts'
import { client, healthy, strong } from './configurations.ts'
import type { FindingCase } from './finding-cases.ts'
import { healthyIdJag, idJagFindingCases } from './id-jag-finding-cases.ts'
import { healthyUpstreams, upstreamCases } from './upstream-cases.ts'
import { healthyWorkloads, workloadCases } from './workload-cases.ts'

const { jwk } = await createKey()
const keyClient = { ...client, secrets: [], jwks: { keys: [jwk] } }
const device = { name: 'device-authorization', verificationUri: 'https://login.example.com/device' }
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const withPlugin = (plugin: object, ...clients: readonly object[]) => ({
  ...healthy,
  clients: [client, ...clients],
  plugins: [plugin],
})

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

/** Configurations whose plugins are fine. */
export const healthyPlugins: readonly (readonly [what: string, content: unknown])[] = [
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
      clients: withFapi2.clients.map((one) => ({
        ...one,
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
  healthyIdJag,
  ['jwt-introspection', withPlugin({ name: 'jwt-introspection' })],
  ...healthyUpstreams,
  ...healthyWorkloads,
  [
    'resource-indicators',
    {
      ...withPlugin({ name: 'resource-indicators' }),
      scopes: [{ ...healthy.scopes[0], audience: 'https://api1.example.com' }],
    },
  ],
]

/** A configuration with plugins and the expected finding. */
export const pluginFindingCases: readonly FindingCase[] = [
  [
    'a client that needs a sign-in, without one',
    {
      ...healthy,
      clients: [{ ...client, grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/cb'] }],
    },
    { id: 'sign-in-missing', severity: 'warning', where: 'clients[0].grantTypes' },
  ],
  ...idJagFindingCases,
  [
    'a sign-in without users',
    withPlugin({ name: 'sign-in' }),
    { id: 'users-missing', severity: 'warning', where: 'plugins[0]' },
  ],
  [
    'a scope that is described in fewer languages than the pages have',
    withPlugin({
      name: 'sign-in',
      pages: { locales: ['en', 'de-AT', 'ja'], scopes: { api1: { en: 'See', de: 'Sehen' } } },
    }),
    {
      id: 'text-missing',
      severity: 'info',
      where: 'plugins[0].pages.scopes.api1',
      reason: expect.stringContaining('no text in ja,'),
    },
  ],
  [
    'a language of the pages that is partly English',
    withPlugin({ name: 'sign-in', pages: { messages: { sv: { signIn: 'Logga in' } } } }),
    { id: 'text-missing', where: 'plugins[0].pages.messages.sv' },
  ],
  [
    'a client that is described to users, without the pages of a sign-in',
    { ...healthy, clients: [{ ...client, clientName: 'Example' }] },
    { id: 'plugin-missing', severity: 'error', where: 'clients[0].clientName' },
  ],
  [
    'a grant type without its plugin',
    { ...healthy, clients: [{ ...client, grantTypes: ['client_credentials', deviceGrant] }] },
    {
      id: 'plugin-missing',
      severity: 'error',
      where: 'clients[0].grantTypes[1]',
      reason: expect.stringContaining('device-authorization'),
    },
  ],
  [
    'an authentication method without its plugin',
    { ...withPlugin(device), clients: [{ ...client, tokenEndpointAuthMethod: 'private_key_jwt' }] },
    { id: 'plugin-missing', where: 'clients[0].tokenEndpointAuthMethod' },
  ],
  [
    'a member of a client without its plugin',
    { ...healthy, clients: [keyClient] },
    {
      id: 'plugin-missing',
      where: 'clients[0].jwks',
      reason: 'jwks needs the plugin client-assertion or mtls, which is not in plugins',
    },
  ],
  [
    'a client that requires DPoP without the plugin',
    { ...healthy, clients: [{ ...client, dpopBoundAccessTokens: true }] },
    {
      id: 'plugin-missing',
      where: 'clients[0].dpopBoundAccessTokens',
      reason: 'dpopBoundAccessTokens needs the plugin dpop, which is not in plugins',
    },
  ],
  [
    'a private_key_jwt client without keys',
    {
      ...withPlugin({ name: 'client-assertion' }),
      clients: [{ ...client, tokenEndpointAuthMethod: 'private_key_jwt' }],
    },
    { id: 'client-without-keys', severity: 'error', where: 'clients[0].tokenEndpointAuthMethod' },
  ],
  [
    'a device page without TLS',
    withPlugin({ ...device, verificationUri: 'http://login.example.com/device' }),
    { id: 'verification-uri-without-tls', severity: 'error', where: 'plugins[0].verificationUri' },
  ],
  [
    'keys of clients at private addresses',
    withPlugin({ name: 'client-assertion', jwksUri: { allowPrivateAddresses: true } }),
    { id: 'jwks-uri-private', severity: 'warning', where: 'plugins[0].jwksUri.allowPrivateAddresses' },
  ],
  [
    'logout tokens to private addresses',
    withPlugin({ name: 'sign-in', backChannelLogout: { allowPrivateAddresses: true } }),
    {
      id: 'logout-uri-private',
      severity: 'warning',
      where: 'plugins[0].backChannelLogout.allowPrivateAddresses',
    },
  ],
  [
    'proofs of clients with a fast clock',
    withPlugin({ name: 'dpop', clockTolerance: 5 }),
    { id: 'dpop-clock-strict', severity: 'warning', where: 'plugins[0].clockTolerance' },
  ],
  ['a profile that no client has', withPlugin({ name: 'fapi2' }), { id: 'fapi-unused', where: 'plugins[0]' }],
  [
    'a client of the profile without the plugin',
    { ...healthy, clients: [{ ...client, profile: 'fapi2' }] },
    { id: 'plugin-missing', where: 'clients[0].profile' },
  ],
  [
    'a client of the profile whose access tokens are signed with RS256',
    { ...withFapi2, keys: { algorithm: 'RS256', encryptionSecret: strong('keys') } },
    { id: 'fapi-signing-algorithm', severity: 'warning', where: 'keys' },
  ],
  [
    'a scope for clients with documents that is not declared',
    withPlugin({ name: 'client-metadata', scopes: ['api1', 'api9'] }),
    { id: 'document-scope-unknown', severity: 'warning', where: 'plugins[0].scopes' },
  ],
  [
    'documents of any host, whose clients users are asked about once',
    withPlugin({ name: 'client-metadata', scopes: ['api1'], otherHosts: 'allow' }),
    { id: 'documents-of-any-host', severity: 'warning', where: 'plugins[0].otherHosts' },
  ],
  [
    'documents in the local network',
    withPlugin({ name: 'client-metadata', scopes: ['api1'], allowPrivateAddresses: true }),
    { id: 'document-url-private', severity: 'error', where: 'plugins[0].allowPrivateAddresses' },
  ],
  ...upstreamCases,
  ...workloadCases,
  [
    'resources that no scope has',
    withPlugin({ name: 'resource-indicators' }),
    { id: 'resource-unknown', severity: 'warning', where: 'plugins[0]' },
  ],
  [
    'a program on the device whose users are not asked',
    withPlugin(
      { name: 'sign-in' },
      {
        clientId: 'cli',
        public: true,
        scopes: ['openid'],
        requireConsent: false,
        grantTypes: ['authorization_code'],
        redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
      },
    ),
    { id: 'redirect-unasked', severity: 'warning', where: 'clients[1].requireConsent' },
  ],
]
