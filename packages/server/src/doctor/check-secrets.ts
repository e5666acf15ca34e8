import type { ClientWithSecrets } from '@grantry/core'
import { each, type RulePart, type RuleText } from '../check-rules/rule.ts'
import { allClients, type Facts } from './facts.ts'
import { findWeakSecrets } from './weak-secrets.ts'

/** Seconds before its expiry at which a secret is reported. */
const warningPeriod = 30 * 86_400

interface Owner {
  readonly name: string
  readonly path: string
  /** Whether the owner can authenticate with a secret. */
  readonly used: boolean
  readonly stored: ClientWithSecrets['secrets']['stored']
}

const ownersOf = (facts: Facts): readonly Owner[] => [
  ...allClients(facts).map(({ client, path, name }) => ({
    name,
    path: `${path}.secrets`,
    used: client.enabled && !client.public,
    stored: client.secrets.stored,
  })),
  ...facts.scopes.map((scope, index) => ({
    name: scope.name,
    path: `scopes[${index}].secrets`,
    used: scope.enabled,
    stored: scope.secrets.stored,
  })),
]

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

/** Returns the secrets that end, and whether another of their owner is valid for longer. */
const endingOf = ({ name, path, stored, now }: Owner & Pick<Facts, 'now'>) =>
  stored.flatMap(({ expiresAt }, index) => {
    if (expiresAt === undefined) return []
    const isLast = stored.every((secret) => (secret.expiresAt ?? Number.POSITIVE_INFINITY) <= expiresAt)
    return [{ name, where: `${path}[${index}]`, left: expiresAt - now, date: dateOf(expiresAt), isLast }]
  })

/** Returns all secrets, whether they can be guessed, and which other owner has the same one. */
function comparedSecrets(facts: Facts) {
  const owners = ownersOf(facts)
  const secrets = owners.flatMap(({ name, path, stored }) =>
    stored.map(({ hash, algorithm }, index) => ({ name, where: `${path}[${index}]`, hash, algorithm })),
  )
  const weak = findWeakSecrets(
    new Map(secrets.map(({ hash, algorithm }) => [hash, algorithm])),
    owners.map(({ name }) => name),
  )
  const first = new Map([...secrets].reverse().map(({ hash, name }) => [hash, name]))
  return secrets.map(({ hash, ...secret }) => ({ ...secret, isWeak: weak.has(hash), sharedWith: first.get(hash) }))
}

export const secretWeak: RuleText = {
  id: 'secret-weak',
  severity: 'error',
  remedy: 'replace it with a secret from grantry hash-secret',
  source: 'RFC 6749 section 10.10; OAuth 2.1 section 7.7',
}

/** The rules for stored secrets: weak, shared between owners, expired or expiring. */
export const secretRules: readonly RulePart<Facts>[] = [
  each(
    (facts: Facts) => ownersOf(facts).map((owner) => ({ ...owner, now: facts.now })),
    [
      each(endingOf, [
        {
          id: 'secret-expired',
          severity: 'warning',
          remedy: 'remove it from the configuration',
          source: 'docs/guides/configuration.md',
          check: ({ where, left, date }) => left <= 0 && { where, reason: `It expired on ${date}` },
        },
        {
          id: 'secret-expires-soon',
          severity: 'warning',
          remedy: 'add a second secret with grantry hash-secret, give it to its owner, and let the old one expire',
          source: 'docs/guides/configuration.md',
          check: ({ name, where, left, date, isLast }) =>
            left > 0 &&
            left < warningPeriod &&
            isLast && { where, reason: `It expires on ${date}, and ${name} has no secret that is valid for longer` },
        },
      ]),
      {
        id: 'secret-none-live',
        severity: 'error',
        remedy: 'add a secret with grantry hash-secret, or disable its owner',
        source: 'RFC 6749 section 2.3.1',
        // Without any secret, it uses another authentication method: otherwise the provider would not have started.
        check: ({ name, path: where, used, stored, now }) =>
          used &&
          stored.length > 0 &&
          stored.every(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now) && {
            where,
            reason: `${name} has no valid secret, so it cannot authenticate`,
          },
      },
    ],
  ),
  each(comparedSecrets, [
    {
      ...secretWeak,
      check: ({ name, where, isWeak }) =>
        isWeak && { where, reason: `The secret of ${name} is short or well known: grantry check guessed it` },
    },
    {
      id: 'secret-shared',
      severity: 'warning',
      remedy: 'create a secret for each of them with grantry hash-secret',
      source: 'RFC 9700 section 2.5',
      check: ({ name, where, sharedWith }) =>
        sharedWith !== name && {
          where,
          reason: `${name} and ${sharedWith} have the same secret, so each can impersonate the other`,
        },
    },
  ]),
]
