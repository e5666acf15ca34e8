import { isLoopbackHost, parseConfiguration } from '@grantry/core'
import { type TenantOf, tenantsByHost, tenantsByPath } from '@grantry/core/tenants'
import { configurationMessage } from '../error-message.ts'
import { keySettingsOf } from './configured-keys.ts'
import { isNamedPlugin, type NamedPlugin, namedPluginSchema } from './named-plugins.ts'
import { widerAddresses } from './private-addresses.ts'
import type { CheckedConfiguration } from './schema.ts'
import type { ConfiguredTenant, TenantsConfiguration } from './tenants-schema.ts'

/** Probes of a platform name an address instead of a host. */
const isMachine = (host: string): boolean => isLoopbackHost(host) || /^(?:\[.*\]|[\d.]+)$/u.test(host)

/** Returns how requests name a tenant. Those to the host of the server, or to an address, name none. */
export function tenantOf(
  { issuer }: Pick<CheckedConfiguration, 'issuer'>,
  { by, prefix }: Pick<TenantsConfiguration, 'by' | 'prefix'>,
): TenantOf {
  if (by === 'path') return tenantsByPath({ prefix })
  const { hostname } = new URL(issuer)
  const byHost = tenantsByHost()
  return {
    ...byHost,
    of(request) {
      const host = byHost.of(request)
      // A malformed host names neither a tenant nor the server.
      if (host === undefined) return ''
      return host === hostname || isMachine(host) ? undefined : host
    },
  }
}

/** Returns the issuer of a tenant: at the origin of the server below the prefix, or at its own host. */
export function tenantIssuer(
  { issuer }: Pick<CheckedConfiguration, 'issuer'>,
  { by, prefix }: Pick<TenantsConfiguration, 'by' | 'prefix'>,
  name: string,
): string {
  const { protocol, port, origin } = new URL(issuer)
  if (by === 'path') return `${origin}${prefix}/${name}`
  return `${protocol}//${name}${port === '' ? '' : `:${port}`}`
}

/**
 * Plugins that a tenant does not inherit: the administrators of the server are not those of a tenant, which names its
 * own.
 */
const ofServerOnly: readonly string[] = ['admin']

const checked = (plugin: NamedPlugin): object =>
  parseConfiguration(namedPluginSchema(plugin.name), plugin, `plugin ${plugin.name}`)

/**
 * A tenant in the storage was written by an administrator over the network, who must not open the local network of the
 * server. The joined plugins are compared: a tenant that changes the hosts would use a permission that it inherits.
 *
 * @throws TypeError when a tenant in the storage allows addresses that the server does not allow for the plugin
 */
function assertNotWider({ plugins = [] }: CheckedConfiguration, joined: readonly (string | object)[]): void {
  for (const plugin of joined) {
    if (!isNamedPlugin(plugin)) continue
    const ofServer = plugins.filter((entry) => isNamedPlugin(entry) && entry.name === plugin.name)
    const wider = widerAddresses(plugin, ofServer)
    if (wider === undefined) continue
    throw new TypeError(
      `plugin ${plugin.name}: only the configuration of the server can set ${wider}, for the hosts that it names; set it there, or move the tenant to tenants.list`,
    )
  }
}

/** Returns the plugins of the server with the options of the tenant. */
function pluginsOf(
  { plugins = [] }: CheckedConfiguration,
  { plugins: ofTenant }: ConfiguredTenant,
): readonly (string | object)[] {
  const differences = new Map(ofTenant.map((plugin) => [plugin.name, plugin]))
  const inherited = plugins.filter((plugin) => !(isNamedPlugin(plugin) && ofServerOnly.includes(plugin.name)))
  const joined = inherited.map((plugin) => {
    const difference = isNamedPlugin(plugin) ? differences.get(plugin.name) : undefined
    if (difference === undefined) return plugin
    differences.delete(difference.name)
    return checked({ ...(plugin as NamedPlugin), ...difference } as NamedPlugin)
  })
  return [...joined, ...[...differences.values()].map((plugin) => checked(plugin as NamedPlugin))]
}

/** Returns why the configuration of the server cannot be the template of tenants; `undefined` if it can. */
export function templateProblem(configuration: CheckedConfiguration): string | undefined {
  const { keys, authorizationEndpoint, issuer, tenants } = configuration
  if (Array.isArray(keys) || keySettingsOf(keys).jwks !== undefined) {
    return 'each needs its own keys; remove keys.jwks, so that the keys are in the storage'
  }
  if (authorizationEndpoint !== undefined) {
    return 'authorizationEndpoint is one page for all of them; use the plugin sign-in'
  }
  const same = tenants?.list.find(({ name }) => tenantIssuer(configuration, tenants, name) === issuer)
  return same && `the issuer of ${same.name} is that of the server, ${issuer}`
}

/** @throws TypeError when the configuration of the server cannot be the template of tenants */
export function assertTemplate(configuration: CheckedConfiguration): void {
  const problem = templateProblem(configuration)
  if (problem !== undefined) throw new TypeError(`tenants: ${problem}`)
}

/**
 * Checks the options of the tenants in the configuration. Opens none: a tenant is opened by its first request.
 *
 * @throws TypeError that names the tenant, when an option of a plugin is wrong
 */
export function assertTenants(configuration: CheckedConfiguration): void {
  const { tenants } = configuration
  if (tenants === undefined) return
  assertTemplate(configuration)
  for (const [index, tenant] of tenants.list.entries()) {
    try {
      tenantConfiguration(configuration, tenants, tenant)
    } catch (cause) {
      throw new TypeError(`tenants.list[${index}]: ${configurationMessage(cause)}`, { cause })
    }
  }
}

/**
 * Returns the configuration of a tenant: that of the server, without its clients, scopes, users, administrators and console.
 *
 * @throws TypeError when an option of a plugin is wrong
 */
export function tenantConfiguration(
  base: CheckedConfiguration,
  tenants: TenantsConfiguration,
  tenant: ConfiguredTenant,
): CheckedConfiguration {
  assertTemplate(base)
  const plugins = pluginsOf(base, tenant)
  const isStored = tenant.clients === undefined
  if (isStored) assertNotWider(base, plugins)
  return {
    ...base,
    issuer: tenantIssuer(base, tenants, tenant.name),
    clients: tenant.clients ?? [],
    scopes: tenant.scopes ?? [],
    users: tenant.users ?? [],
    plugins: [...plugins],
    homePage: tenant.homePage ?? base.homePage,
    console: undefined,
    metrics: false,
    tenants: undefined,
  }
}
