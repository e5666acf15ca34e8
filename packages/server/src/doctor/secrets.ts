import type { ClientWithSecrets, ScopeWithSecrets } from '@grantry/core'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { findWeakSecrets } from './weak-secrets.ts'

/** Seconds before its expiry at which a secret is reported. */
const warningPeriod = 30 * 86_400

interface Owner {
  readonly name: string
  readonly path: string
  /** Whether it can authenticate with a secret. */
  readonly used: boolean
  readonly stored: ClientWithSecrets['secrets']['stored']
}

const ownersOf = (clients: readonly ClientWithSecrets[], scopes: readonly ScopeWithSecrets[]): readonly Owner[] => [
  ...clients.map((client, index) => ({
    name: client.clientId,
    path: `clients[${index}].secrets`,
    used: client.enabled && !client.public,
    stored: client.secrets.stored,
  })),
  ...scopes.map((scope, index) => ({
    name: scope.name,
    path: `scopes[${index}].secrets`,
    used: scope.enabled,
    stored: scope.secrets.stored,
  })),
]

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

function checkExpiry({ name, path, used, stored }: Owner, now: number): readonly Finding[] {
  const isLive = (end: number | undefined): boolean => end === undefined || end > now
  const live = stored.filter(({ expiresAt }) => isLive(expiresAt))
  const findings: Finding[] = []
  for (const [index, { expiresAt }] of stored.entries()) {
    if (expiresAt === undefined) continue
    const where = `${path}[${index}]`
    if (!isLive(expiresAt)) findings.push(finding('secret-expired', where, `It expired on ${dateOf(expiresAt)}`))
    else if (
      expiresAt - now < warningPeriod &&
      live.every((other) => (other.expiresAt ?? Number.POSITIVE_INFINITY) <= expiresAt)
    ) {
      findings.push(
        finding(
          'secret-expires-soon',
          where,
          `It expires on ${dateOf(expiresAt)}, and ${name} has no secret that is valid for longer`,
        ),
      )
    }
  }
  // Without any secret, it uses another authentication method: otherwise the provider would not have started.
  if (used && stored.length > 0 && live.length === 0) {
    findings.push(finding('secret-none-live', path, `${name} has no valid secret, so it cannot authenticate`))
  }
  return findings
}

/** Checks stored secrets: weak, shared between owners, expired or expiring. */
export const checkSecrets: Check = ({ clients, scopes, now }) => {
  const owners = ownersOf(clients, scopes)
  const hashes = new Map(
    owners.flatMap(({ stored }) => stored.map(({ hash, algorithm }) => [hash, algorithm] as const)),
  )
  const weak = findWeakSecrets(
    hashes,
    owners.map(({ name }) => name),
  )
  const first = new Map<string, string>()
  const findings = owners.flatMap((owner) => checkExpiry(owner, now))
  for (const { name, path, stored } of owners) {
    for (const [index, { hash }] of stored.entries()) {
      const where = `${path}[${index}]`
      if (weak.has(hash))
        findings.push(
          finding('secret-weak', where, `The secret of ${name} is short or well known: grantry check guessed it`),
        )
      const other = first.get(hash)
      if (other === undefined) first.set(hash, name)
      else if (other !== name)
        findings.push(
          finding(
            'secret-shared',
            where,
            `${name} and ${other} have the same secret, so each can impersonate the other`,
          ),
        )
    }
  }
  return findings
}
