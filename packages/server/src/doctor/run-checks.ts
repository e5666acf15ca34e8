import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { describesClients } from '../provider/startup-warnings.ts'
import { checkAccounts } from './accounts.ts'
import { checkCertificates } from './certificates.ts'
import { checkClients, checkScopes } from './clients.ts'
import { checkExposure, checkFiles, checkIssuer } from './exposure.ts'
import type { Check, Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { checkKeys, checkOpenId } from './keys.ts'
import { checkPlugins } from './plugins.ts'
import { checkSecrets } from './secrets.ts'
import { checkSignIn } from './sign-in.ts'
import { checkStorage, checkStoredEntries } from './storage.ts'
import { checkTenants } from './tenants.ts'
import { checkUsers } from './users.ts'

/**
 * Marks the findings that the operator has accepted, and adds one for each id that no longer occurs: it would hide the
 * next finding of its kind. An error is never accepted, and can hide other findings, so beside it no id counts as unused.
 */
export function withAccepted(findings: readonly Finding[], accept: readonly string[]): readonly Finding[] {
  const marked = findings.map((found) =>
    found.severity !== 'error' && accept.includes(found.id) ? { ...found, severity: 'accepted' as const } : found,
  )
  if (findings.some(({ severity }) => severity === 'error')) return marked
  const unused = accept.flatMap((id, index) =>
    findings.some((found) => found.id === id)
      ? []
      : [finding('acceptance-unused', `check.accept[${index}]`, `${id} is accepted, and there is no such finding`)],
  )
  return [...marked, ...unused]
}

/** Checks what clients need that describe or register themselves, as MCP clients do. */
const checkDescribedClients: Check = ({ configuration, metadata, scopes }) => {
  const { plugins = [] } = configuration
  const audiences = new Set(scopes.flatMap(({ identity, audience }) => (identity ? [] : (audience ?? []))))
  // A module can contain any plugin.
  const readsResource = plugins.some((plugin) => !isNamedPlugin(plugin) || plugin.name === 'resource-indicators')
  return plugins.flatMap((plugin, index) => {
    if (!describesClients(plugin)) return []
    const path = `plugins[${index}]`
    const signIn = `No page signs users in, so the clients of ${plugin.name} cannot get a code`
    const resource = 'MCP clients name the API that a token is for, but no plugin reads it: a token is for all of them'
    return [
      ...(metadata.authorization_endpoint === undefined ? [finding('sign-in-missing', path, signIn)] : []),
      ...(readsResource || audiences.size < 2 ? [] : [finding('resource-unread', path, resource)]),
    ]
  })
}

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
