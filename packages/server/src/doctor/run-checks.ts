import { checkAccounts } from './accounts.ts'
import { checkCertificates } from './certificates.ts'
import { checkClients, checkScopes } from './clients.ts'
import { checkDescribedClients } from './described-clients.ts'
import { checkExposure, checkFiles, checkIssuer } from './exposure.ts'
import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'
import { checkKeys, checkOpenId } from './keys.ts'
import { checkPlugins } from './plugins.ts'
import { checkSecrets } from './secrets.ts'
import { checkSignIn } from './sign-in.ts'
import { checkStorage, checkStoredEntries } from './storage.ts'
import { checkTenants } from './tenants.ts'
import { checkUsers } from './users.ts'
import { withAccepted } from './with-accepted.ts'

const checks = [
  checkIssuer,
  checkStorage,
  checkStoredEntries,
  checkKeys,
  checkOpenId,
  checkFiles,
  checkSecrets,
  checkClients,
  checkScopes,
  checkUsers,
  checkSignIn,
  checkAccounts,
  checkPlugins,
  ({ ofPlugins }: Facts) => ofPlugins,
  checkDescribedClients,
  checkCertificates,
  checkExposure,
  checkTenants,
]

const rank: Readonly<Record<Finding['severity'], number>> = { error: 0, warning: 1, info: 2, accepted: 3 }

/** Returns all findings: errors first, and last what the operator has accepted. */
export const runChecks = (facts: Facts): readonly Finding[] =>
  [
    ...withAccepted(
      checks.flatMap((check) => check(facts)),
      facts.configuration.check?.accept ?? [],
    ),
  ].sort((one, other) => rank[one.severity] - rank[other.severity])
