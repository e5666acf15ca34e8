import type { RulePart } from '../check-rules/rule.ts'
import { templateProblem } from '../configuration/tenant-configuration.ts'
import type { Facts } from './facts.ts'

/** The rules for tenants of the configuration: each is opened by its first request only, and fails then. */
export const tenantRules: readonly RulePart<Facts>[] = [
  {
    id: 'tenant-unusable',
    severity: 'error',
    remedy: 'correct the setting; the requests of this tenant get 503',
    source: 'docs/guides/tenants.md',
    check: ({ tenantProblems }) => tenantProblems,
  },
  {
    id: 'tenant-over-server',
    severity: 'error',
    remedy: 'set tenants.prefix to a path that is not that of the issuer, such as /t',
    source: 'docs/guides/tenants.md',
    check({ configuration }) {
      const { tenants, issuer } = configuration
      if (tenants?.by !== 'path' || templateProblem(configuration) !== undefined) return false
      const { prefix } = tenants
      const reason = `The issuer is below ${prefix}, where the tenants are, so requests to the server reach a tenant`
      return `${new URL(issuer).pathname}/`.startsWith(`${prefix}/`) && { where: 'tenants.prefix', reason }
    },
  },
]
