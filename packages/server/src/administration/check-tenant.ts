import { refused, type TenantMembers } from '@grantry/administration'
import { parseConfiguration } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { loadNamedPlugins } from '../configuration/named-plugins.ts'
import { tenantConfiguration } from '../configuration/tenant-configuration.ts'
import { storedTenantSchema, tenantNameProblem } from '../configuration/tenants-schema.ts'
import { errorMessage } from '../error-message.ts'
import { tryProvider } from './try-provider.ts'

/** Returns a function that rejects when the server would refuse a tenant. */
export function createTenantCheck(loaded: Pick<LoadedConfiguration, 'configuration' | 'directory' | 'file'>) {
  return async (tenant: TenantMembers): Promise<void> => {
    const { configuration, file } = loaded
    const { tenants } = configuration
    if (tenants === undefined) {
      throw refused('unsupported', `${file}: this server has no tenants; add "tenants" to the configuration`)
    }
    const called = `tenant ${tenant.name}`
    const problem = tenantNameProblem(String(tenant.name), tenants.by)
    if (problem !== undefined) throw refused('invalid', `${called}: name ${problem}`, { member: 'name' })
    if (tenants.list.some(({ name }) => name === tenant.name)) {
      throw refused('exists', `${file}: tenants.list has ${tenant.name} already; edit it there`, { member: 'name' })
    }
    let ofTenant: typeof configuration
    try {
      const checked = parseConfiguration(storedTenantSchema, tenant, called)
      await loadNamedPlugins(checked.plugins)
      ofTenant = tenantConfiguration(configuration, tenants, checked)
    } catch (cause) {
      throw refused('invalid', errorMessage(cause), { cause })
    }
    const { clients, scopes } = ofTenant
    await tryProvider({ ...loaded, configuration: ofTenant }, { clients, scopes }, { path: 'plugins', called })
  }
}
