import { checkClients } from './clients.ts'
import { checkExposure } from './exposure.ts'
import type { Facts } from './facts.ts'
import { checkFiles } from './files.ts'
import type { Finding } from './finding.ts'
import { checkIssuer } from './issuer.ts'
import { checkKeys } from './keys.ts'
import { checkOpenId } from './openid.ts'
import type { Severity } from './rules.ts'
import { checkScopes } from './scopes.ts'
import { checkSecrets } from './secrets.ts'
import { checkStorage } from './storage.ts'
import { checkUsers } from './users.ts'

const checks = [
  checkIssuer,
  checkStorage,
  checkKeys,
  checkOpenId,
  checkFiles,
  checkSecrets,
  checkClients,
  checkScopes,
  checkUsers,
  checkExposure,
]

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/** Returns all findings, errors first. */
export const runChecks = (facts: Facts): readonly Finding[] =>
  checks.flatMap((check) => check(facts)).sort((one, other) => rank[one.severity] - rank[other.severity])
