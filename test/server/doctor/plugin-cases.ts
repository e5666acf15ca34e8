import { expect } from 'vitest'
import { type FindingCase, strong, withPlugin } from './configurations.ts'
import { device, withFapi2 } from './healthy-plugins.ts'

/** Options of plugins. */
export const pluginCases: readonly FindingCase[] = [
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
