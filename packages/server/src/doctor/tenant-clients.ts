import { type ClientWithSecrets, directorySchemasOf, parseConfiguration } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { templateProblem, tenantConfiguration } from '../configuration/tenant-configuration.ts'
import { configurationMessage } from '../error-message.ts'
import { assertAccounts } from '../provider-options/assert-accounts.ts'
import { providerOptions } from '../provider-options/provider-options.ts'
import type { Facts } from './facts.ts'

type TenantFacts = Pick<Facts, 'tenantClients' | 'tenantProblems'>

/** Returns the clients of the tenants in the configuration, and what is wrong with these tenants. */
export async function tenantFacts({ configuration, directory }: LoadedConfiguration): Promise<TenantFacts> {
  const { tenants } = configuration
  if (tenants === undefined) return { tenantClients: [], tenantProblems: [] }
  const reason = templateProblem(configuration)
  if (reason !== undefined) return { tenantClients: [], tenantProblems: [{ where: 'tenants', reason }] }
  const tenantClients: Facts['tenantClients'][number][] = []
  const tenantProblems: Facts['tenantProblems'][number][] = []
  for (const [index, tenant] of tenants.list.entries()) {
    const where = `tenants.list[${index}]`
    try {
      const ofTenant = tenantConfiguration(configuration, tenants, tenant)
      assertAccounts(ofTenant)
      // Another plugin of the tenant can add members.
      const { plugins } = await providerOptions({ configuration: ofTenant, directory }, memoryDriver(), () => {})
      const { clientSchema } = directorySchemasOf(plugins)
      for (const [at, written] of (tenant.clients ?? []).entries()) {
        const client: ClientWithSecrets = parseConfiguration(clientSchema, written, `clients[${at}]`)
        tenantClients.push({ client, path: `${where}.clients[${at}]`, issuer: ofTenant.issuer })
      }
    } catch (cause) {
      tenantProblems.push({ where, reason: configurationMessage(cause) })
    }
  }
  return { tenantClients, tenantProblems }
}
