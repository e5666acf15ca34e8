import { expect } from 'vitest'
import { client, type FindingCase, healthy, withPlugin } from './configurations.ts'
import { device, deviceGrant, keyClient } from './healthy-plugins.ts'

/** Plugins, users and keys that something needs and that are missing. */
export const missingPluginCases: readonly FindingCase[] = [
  [
    'a client that needs a sign-in, without one',
    {
      ...healthy,
      clients: [{ ...client, grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/cb'] }],
    },
    { id: 'sign-in-missing', severity: 'warning', where: 'clients[0].grantTypes' },
  ],
  [
    'a sign-in without users',
    withPlugin({ name: 'sign-in' }),
    { id: 'users-missing', severity: 'warning', where: 'plugins[0]' },
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
    'a client of the profile without the plugin',
    { ...healthy, clients: [{ ...client, profile: 'fapi2' }] },
    { id: 'plugin-missing', where: 'clients[0].profile' },
  ],
]
