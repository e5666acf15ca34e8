import type { Client, Scope } from '@grantry/core'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { weakAmong } from './weak-secrets.ts'

/** Seconds before its end at which a secret is told. */
const soon = 30 * 86_400

interface Owner {
  readonly name: string
  readonly path: string
  /** Whether anybody may authenticate as it at all. */
  readonly used: boolean
  /** Whether it is of no use without a live secret. */
  readonly needed: boolean
  readonly stored: Client['secrets']['stored']
}

const ownersOf = (clients: readonly Client[], scopes: readonly Scope[]): readonly Owner[] => [
  ...clients.map((client, index) => ({
    name: client.clientId,
    path: `clients[${index}].secrets`,
    used: client.enabled && !client.public,
    needed: client.enabled && !client.public && client.grantTypes.length > 0,
    stored: client.secrets.stored,
  })),
  ...scopes.map((scope, index) => ({
    name: scope.name,
    path: `scopes[${index}].secrets`,
    used: scope.enabled,
    needed: false,
    stored: scope.secrets.stored,
  })),
]

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

function endings({ name, path, used, needed, stored }: Owner, now: number): readonly Finding[] {
  const isLive = (end: number | undefined): boolean => end === undefined || end > now
  const live = stored.filter(({ expiresAt }) => isLive(expiresAt))
  const findings: Finding[] = []
  for (const [index, { expiresAt }] of stored.entries()) {
    if (expiresAt === undefined) continue
    const where = `${path}[${index}]`
    if (!isLive(expiresAt)) findings.push(finding('secret-expired', where, `It has ended on ${dateOf(expiresAt)}`))
    else if (
      expiresAt - now < soon &&
      live.every((other) => (other.expiresAt ?? Number.POSITIVE_INFINITY) <= expiresAt)
    ) {
      findings.push(
        finding(
          'secret-expires-soon',
          where,
          `It ends on ${dateOf(expiresAt)}, and ${name} has none that lives longer`,
        ),
      )
    }
  }
  if (live.length === 0 && (needed || (used && stored.length > 0))) {
    findings.push(finding('secret-none-live', path, `No secret of ${name} counts today: it cannot authenticate`))
  }
  return findings
}

/** What stored secrets tell of themselves: that they can be guessed, are used twice, or end. */
export const checkSecrets: Check = ({ clients, scopes, now }) => {
  const owners = ownersOf(clients, scopes)
  const hashes = new Map(
    owners.flatMap(({ stored }) => stored.map(({ hash, algorithm }) => [hash, algorithm] as const)),
  )
  const weak = weakAmong(
    hashes,
    owners.map(({ name }) => name),
  )
  const first = new Map<string, string>()
  const findings = owners.flatMap((owner) => endings(owner, now))
  for (const { name, path, stored } of owners) {
    for (const [index, { hash }] of stored.entries()) {
      const where = `${path}[${index}]`
      if (weak.has(hash))
        findings.push(
          finding('secret-weak', where, `The secret of ${name} is short or well known: it was found by guessing`),
        )
      const other = first.get(hash)
      if (other === undefined) first.set(hash, name)
      else if (other !== name)
        findings.push(
          finding('secret-shared', where, `${name} has the same secret as ${other}: either can act as the other`),
        )
    }
  }
  return findings
}
