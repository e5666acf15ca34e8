import { refused, type TenantMembers } from '@grantry/administration'
import { parseConfiguration } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { tenantConfiguration } from '../configuration/tenant-configuration.ts'
import { storedTenantSchema, tenantNameProblem } from '../configuration/tenants-schema.ts'
import { errorMessage } from '../error-message.ts'
import { tryProvider } from './try-provider.ts'

/** Returns a function that rejects when the server would refuse a tenant. */
export function createTenantCheck(loaded: Pick<LoadedConfiguration, 'configuration' | 'directory' | 'file'>) {
  return async (given: TenantMembers): Promise<void> => {
    const { configuration, file } = loaded
    const { tenants } = configuration
    if (tenants === undefined) {
      throw refused('unsupported', `${file}: this server has no tenants; add "tenants" to the configuration`)
    }
    const called = `tenant ${given.name}`
    const problem = tenantNameProblem(String(given.name), tenants.by)
    if (problem !== undefined) throw refused('invalid', `${called}: name ${problem}`, { member: 'name' })
    if (tenants.list.some(({ name }) => name === given.name)) {
      throw refused('exists', `${file}: tenants.list has ${given.name} already; edit it there`, { member: 'name' })
    }
    let own: typeof configuration
    try {
      own = tenantConfiguration(configuration, tenants, parseConfiguration(storedTenantSchema, given, called))
    } catch (cause) {
      throw refused('invalid', errorMessage(cause), { cause })
    }
    const { clients, scopes } = own
    await tryProvider({ ...loaded, configuration: own }, { clients, scopes }, { path: 'plugins', called })
  }
}
