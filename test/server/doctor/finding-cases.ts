// The cases of `findings.test.ts`. Add yours to the file of its subject; a file of a new subject is named here.
import { accountPageCases } from './account-page-cases.ts'
import { certificateCases, healthyCertificates } from './certificate-cases.ts'
import { clientCases } from './client-cases.ts'
import type { FindingCase, HealthyCase } from './configurations.ts'
import { healthyPlugins } from './healthy-plugins.ts'
import { healthyIdJag, idJagCases } from './id-jag-cases.ts'
import { healthyAccounts, mailCases } from './mail-cases.ts'
import { missingPluginCases } from './missing-plugin-cases.ts'
import { pluginCases } from './plugin-cases.ts'
import { registrationCases } from './registration-cases.ts'
import { scopeCases } from './scope-cases.ts'
import { secretCases } from './secret-cases.ts'
import { serverCases } from './server-cases.ts'
import { storageCases } from './storage-cases.ts'
import { healthyTenants, tenantCases } from './tenant-cases.ts'
import { healthyUpstreams, upstreamCases } from './upstream-cases.ts'
import { healthyWorkloads, workloadCases } from './workload-cases.ts'

export const healthyCases: readonly HealthyCase[] = [
  ...healthyPlugins,
  ...healthyAccounts,
  ...healthyCertificates,
  ...healthyIdJag,
  ...healthyTenants,
  ...healthyUpstreams,
  ...healthyWorkloads,
]

export const findingCases: readonly FindingCase[] = [
  ...serverCases,
  ...storageCases,
  ...secretCases,
  ...clientCases,
  ...scopeCases,
  ...missingPluginCases,
  ...pluginCases,
  ...accountPageCases,
  ...certificateCases,
  ...idJagCases,
  ...mailCases,
  ...registrationCases,
  ...tenantCases,
  ...upstreamCases,
  ...workloadCases,
]
