import { templateProblem, tenantConfiguration } from '../configuration/tenant-configuration.ts'
import { configurationMessage } from '../error-message.ts'
import { assertAccounts } from '../provider-options/assert-accounts.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** Checks the tenants of the configuration: each is opened by its first request only, and fails then. */
export const checkTenants: Check = ({ configuration }) => {
  const { tenants } = configuration
  if (tenants === undefined) return []
  const problem = templateProblem(configuration)
  if (problem !== undefined) return [finding('tenant-unusable', 'tenants', problem)]
  const { by, list, prefix } = tenants
  const unusable = list.flatMap((tenant, index) => {
    try {
      assertAccounts(tenantConfiguration(configuration, tenants, tenant))
      return []
    } catch (cause) {
      return [finding('tenant-unusable', `tenants.list[${index}]`, configurationMessage(cause))]
    }
  })
  const { pathname } = new URL(configuration.issuer)
  const isBelow = by === 'path' && (pathname === prefix || pathname.startsWith(`${prefix}/`))
  return [
    ...unusable,
    ...(isBelow
      ? [
          finding(
            'tenant-over-server',
            'tenants.prefix',
            `The issuer is below ${prefix}, where the tenants are, so requests to the server reach a tenant`,
          ),
        ]
      : []),
  ]
}
