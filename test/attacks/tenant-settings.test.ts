/**
 * Attack: an administrator with an access token for the admin API, but without access to the machine, creates a tenant whose
 * plugins send requests to hosts of the local network, and reads by errors and times what is there. Or the server allows
 * this for one provider of its own, and the tenant uses the permission for another host.
 *
 * Decision 168.
 */
import { parseConfiguration } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { widerAddresses } from '../../packages/server/src/configuration/private-addresses.ts'
import { tenantConfiguration } from '../../packages/server/src/configuration/tenant-configuration.ts'
import type { ConfiguredTenant } from '../../packages/server/src/configuration/tenants-schema.ts'
import { configurationSchema } from '../support/configuration-schema.ts'

const internal = { issuer: 'http://127.0.0.1:9200', clientId: 'x', allowPrivateAddresses: true }
const plugins: readonly { readonly name: string }[] = [
  { name: 'sign-in', providers: [{ name: 'internal', ...internal }] } as { name: string },
  { name: 'client-assertion', jwksUri: { allowPrivateAddresses: true } } as { name: string },
]

function configured(ofServer: readonly object[], ofTenant: Partial<ConfiguredTenant>) {
  const content = { issuer: 'https://id.example.com', clients: [], plugins: ofServer, tenants: {} }
  const base = parseConfiguration(configurationSchema, content, '')
  const tenants = base.tenants
  if (tenants === undefined) throw new TypeError('There are no tenants')
  return tenantConfiguration(base, tenants, { name: 'acme', enabled: true, plugins: [], ...ofTenant })
}

describe.each(plugins.map((plugin) => [plugin.name, plugin] as const))('private addresses for %s', (_name, plugin) => {
  test('are not allowed by a tenant in the storage', () => {
    expect(() => configured([], { plugins: [plugin] })).toThrow('only the configuration of the server can set')
    expect(() => configured([{ name: plugin.name }], { plugins: [plugin] })).toThrow('allowPrivateAddresses')
  })

  test('are allowed by the configuration: for all tenants, or for one of its list', () => {
    expect(configured([plugin], { plugins: [plugin] }).plugins).toHaveLength(1)
    expect(configured([], { plugins: [plugin], clients: [] }).plugins).toHaveLength(1)
  })
})

const provider = (issuer: string, more: object = {}) => ({
  name: 'corp',
  issuer,
  clientId: 'x',
  allowPrivateAddresses: true,
  ...more,
})
const signIn = (...providers: readonly object[]) => ({ name: 'sign-in', providers })
const workload = (issuer: string, more: object = {}) => ({
  name: 'workload-identity',
  issuers: [{ platform: 'kubernetes', issuer, allowPrivateAddresses: true, ...more }],
})
const documents = (more: object) => ({ name: 'client-metadata', scopes: ['api1'], ...more })
const statements = (issuer: string) => ({
  name: 'registration',
  scopes: ['api1'],
  softwareStatements: { issuers: [{ issuer, jwksUri: `${issuer}/jwks` }], jwksUri: { allowPrivateAddresses: true } },
})
const identity = (issuer: string) => ({
  name: 'id-jag',
  accept: { issuers: [{ issuer, jwksUri: `${issuer}/jwks` }], jwksUri: { allowPrivateAddresses: true } },
})
const idp = 'https://idp.corp.internal'
const vault = 'https://vault.corp.internal'

describe('a permission of the server', () => {
  test.each<[string, object, object]>([
    ['for a provider is none for another issuer', signIn(provider(idp)), signIn(provider(vault))],
    [
      'for a provider is none for a second one',
      signIn(provider(idp)),
      signIn(provider(idp), provider(vault, { name: 'b' })),
    ],
    [
      'for logout requests is none for providers',
      { name: 'sign-in', backChannelLogout: { allowPrivateAddresses: true } },
      signIn(provider(vault)),
    ],
    [
      'for providers is none for logout requests',
      signIn(provider(idp)),
      { name: 'sign-in', backChannelLogout: { allowPrivateAddresses: true } },
    ],
    ['for a workload issuer is none for another one', workload(idp), workload(vault)],
    ['for a workload issuer is none for other keys of it', workload(idp), workload(idp, { jwksUri: `${vault}/keys` })],
    [
      'for documents of some hosts is none for all, also if it is inherited',
      documents({
        hosts: [{ host: 'apps.internal', policy: 'allow' }],
        otherHosts: 'refuse',
        allowPrivateAddresses: true,
      }),
      { name: 'client-metadata', hosts: [], otherHosts: 'allow' },
    ],
    ['for the issuer of statements is none for another one', statements(idp), statements(vault)],
    ['for an identity provider is none for another one', identity(idp), identity(vault)],
    [
      'for keys of invited clients is none for strangers, who can name hosts of their own',
      { name: 'registration', scopes: ['api1'], allowPrivateAddresses: true },
      { name: 'registration', scopes: ['api1'], allowPrivateAddresses: true, open: true },
    ],
    [
      'for keys of statements is none for keys of clients',
      statements(idp),
      { name: 'registration', scopes: ['api1'], allowPrivateAddresses: true },
    ],
  ])('%s', (_title, ofServer, ofTenant) => {
    const plugins = [ofTenant as { name: string }]
    expect(() => configured([ofServer], { plugins })).toThrow('allowPrivateAddresses, for the hosts that it names')
    expect(configured([ofServer], { plugins, clients: [] }).plugins).toHaveLength(1)
  })

  test.each<[string, object, object]>([
    [
      'the client of the tenant',
      signIn(provider(idp)),
      signIn(provider(idp, { clientId: 'tenant', clientSecret: 'secret' })),
    ],
    ['other options of the plugin', signIn(provider(idp)), { name: 'sign-in', passwords: false }],
    ['other scopes', documents({ allowPrivateAddresses: true }), documents({ scopes: ['api2'] })],
    ['its issuer among several', workload(idp), workload(idp)],
    [
      'fewer permissions',
      signIn(provider(idp)),
      signIn(provider('https://idp.example', { allowPrivateAddresses: false })),
    ],
  ])('holds for the same host with %s', (_title, ofServer, ofTenant) => {
    expect(configured([ofServer], { plugins: [ofTenant as { name: string }] }).plugins).toHaveLength(1)
  })
})

test('a permission at one place of a plugin is none at another place with the same options', () => {
  const allowed = { allowPrivateAddresses: true }
  expect(widerAddresses({ a: allowed }, [{ a: allowed }])).toBeUndefined()
  expect(widerAddresses({ b: allowed }, [{ a: allowed }])).toBe('b.allowPrivateAddresses')
  expect(widerAddresses({ a: [allowed] }, [{ a: allowed }])).toBe('a[].allowPrivateAddresses')
})
