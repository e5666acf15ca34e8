/**
 * Attack: an administrator with an access token for the admin API, but without access to the machine, creates a tenant whose
 * plugins send requests to hosts of the local network, and reads by errors and times what is there.
 *
 * Decision 168.
 */
import { parseConfiguration } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { configurationSchema } from '../../packages/server/src/configuration/schema.ts'
import type { ConfiguredTenant } from '../../packages/server/src/configuration/tenants.ts'
import { tenantConfiguration } from '../../packages/server/src/tenants/tenant-configuration.ts'

const internal = { issuer: 'http://127.0.0.1:9200', clientId: 'x', allowPrivateAddresses: true }
const plugins: readonly { readonly name: string }[] = [
  { name: 'sign-in', providers: [{ name: 'internal', ...internal }] } as { name: string },
  { name: 'client-assertion', jwksUri: { allowPrivateAddresses: true } } as { name: string },
]

function configured(ofServer: readonly object[], own: Partial<ConfiguredTenant>) {
  const content = { issuer: 'https://id.example.com', clients: [], plugins: ofServer, tenants: {} }
  const base = parseConfiguration(configurationSchema, content, '')
  const tenants = base.tenants
  if (tenants === undefined) throw new TypeError('There are no tenants')
  return tenantConfiguration(base, tenants, { name: 'acme', enabled: true, plugins: [], ...own })
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
