import {
  type ClientWithSecrets,
  createProvider,
  directorySchemasOf,
  type ProviderOptions,
  parseConfiguration,
  type RuleFinding,
} from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { templateProblem, tenantConfiguration } from '../configuration/tenant-configuration.ts'
import { unusedKeys } from '../configuration/unused-keys.ts'
import { configurationMessage } from '../error-message.ts'
import { assertAccounts } from '../provider-options/assert-accounts.ts'
import { providerOptions } from '../provider-options/provider-options.ts'
import type { ConfiguredClient, Facts } from './facts.ts'

type TenantFacts = Pick<Facts, 'tenantClients' | 'tenantProblems'> & {
  /** What the rules of the core and of plugins find about clients of tenants. */
  readonly tenantFindings: readonly RuleFinding[]
}

/** Returns what the rules find about the clients of a tenant. Other findings are those of the server, whose settings it has. */
async function findingsOf(options: ProviderOptions, mayLackScopes: boolean): Promise<readonly RuleFinding[]> {
  try {
    const provider = await createProvider({ ...options, keys: unusedKeys(options.keys) })
    const findings = provider.findings().filter(({ where }) => where.startsWith('clients['))
    await provider.close()
    return findings
  } catch (cause) {
    // Scopes of its clients can be in its storage.
    if (mayLackScopes) return []
    throw cause
  }
}

/** Returns the clients of the tenants in the configuration, and what is wrong with these tenants. */
export async function tenantFacts({ configuration, directory }: LoadedConfiguration): Promise<TenantFacts> {
  const { tenants } = configuration
  const none = { tenantClients: [], tenantProblems: [], tenantFindings: [] }
  if (tenants === undefined) return none
  const reason = templateProblem(configuration)
  if (reason !== undefined) return { ...none, tenantProblems: [{ where: 'tenants', reason }] }
  const tenantClients: ConfiguredClient[] = []
  const tenantProblems: Facts['tenantProblems'][number][] = []
  const tenantFindings: RuleFinding[] = []
  for (const [index, tenant] of tenants.list.entries()) {
    const path = `tenants.list[${index}]`
    try {
      const ofTenant = tenantConfiguration(configuration, tenants, tenant)
      const { issuer } = ofTenant
      assertAccounts(ofTenant)
      const options = await providerOptions({ configuration: ofTenant, directory }, memoryDriver(), () => {})
      // Another plugin of the tenant can add members.
      const { clientSchema } = directorySchemasOf(options.plugins)
      for (const [at, written] of (tenant.clients ?? []).entries()) {
        const client: ClientWithSecrets = parseConfiguration(clientSchema, written, `clients[${at}]`)
        const name = `${client.clientId} of ${issuer}`
        tenantClients.push({ client, path: `${path}.clients[${at}]`, issuer, name })
      }
      const findings = await findingsOf(options, configuration.administration)
      for (const { where, reason, ...finding } of findings)
        tenantFindings.push({ ...finding, where: `${path}.${where}`, reason: `At ${issuer}: ${reason}` })
    } catch (cause) {
      tenantProblems.push({ where: path, reason: configurationMessage(cause) })
    }
  }
  return { tenantClients, tenantProblems, tenantFindings }
}
