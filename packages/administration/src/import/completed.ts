import { inexactNumberIn } from '@grantry/core'
import type { Members } from '../differences.ts'
import { missingScopes } from './client-draft.ts'
import type { Finding, Imported } from './imported.ts'

const allClients = 'all clients'

/** The findings of every import. */
const common: readonly Finding[] = [
  {
    entry: allClients,
    what: 'sessions, refresh tokens and reference tokens are not in an export: users sign in once',
    outcome: 'lost',
    consequence: 'sign-in',
  },
  {
    entry: allClients,
    what: 'tokens are signed with ES256 unless the keys of the configuration, or identityTokenAlgorithm of a client, name another algorithm; iss is the new issuer',
    outcome: 'changed',
    consequence: 'token',
  },
]

/** Returns the entries without those whose id an earlier one has: `apply` refuses a file with two of them. */
function unique(
  entries: readonly Members[],
  noun: string,
  idsOf: (entry: Members) => readonly string[],
  findings: Finding[],
): readonly Members[] {
  const taken = new Set<string>()
  return entries.filter((entry) => {
    const ids = idsOf(entry)
    const isNew = ids.every((id) => !taken.has(id))
    for (const id of ids) if (isNew) taken.add(id)
    if (!isNew) {
      findings.push(lost(`${noun} ${ids.at(-1)?.slice(2)}`, undefined, 'another one has the same id or name'))
    }
    return isNew
  })
}

const lost = (entry: string, member: string | undefined, what: string): Finding => ({
  entry,
  ...(member !== undefined && { member }),
  what: `was left out: ${what}`,
  outcome: 'lost',
  consequence: 'sign-in',
})

const inexact = 'it has a number that JSON does not keep exactly'

/** Returns the entries without those with a number that would be stored as another one. */
const exact = (entries: readonly Members[], noun: string, idOf: (entry: Members) => unknown, findings: Finding[]) =>
  entries.filter((entry) => {
    if (inexactNumberIn(entry) === undefined) return true
    findings.push(lost(`${noun} ${idOf(entry)}`, undefined, inexact))
    return false
  })

/** Returns a user without the claims that would be stored with another number. */
function withExactClaims(user: Members, findings: Finding[]): Members {
  const claims = Object.entries(user.claims ?? {}).filter(([claim, value]) => {
    if (inexactNumberIn(value) === undefined) return true
    findings.push(lost(`user ${user.username}`, claim, inexact))
    return false
  })
  return { ...user, ...(user.claims !== undefined && { claims: Object.fromEntries(claims) }) }
}

/**
 * Completes the imported entries: removes duplicates, and adds undeclared scopes of clients and the common findings.
 */
export function completed(
  { clients, scopes = [], users = [] }: Pick<Imported, 'clients'> & Partial<Pick<Imported, 'scopes' | 'users'>>,
  findings: Finding[],
  foldName: (name: string) => string,
): Imported {
  const named = exact(scopes, 'scope', ({ name }) => name, findings)
  const used = exact(clients, 'client', ({ clientId }) => clientId, findings)
  const declared = unique(named, 'scope', ({ name }) => [`n ${name}`], findings)
  return {
    scopes: [...declared, ...missingScopes(used, declared)],
    clients: unique(used, 'client', ({ clientId }) => [`c ${clientId}`], findings),
    users: unique(
      users.map((user) => withExactClaims(user, findings)),
      'user',
      ({ sub, username }) => [`s ${sub}`, `u ${foldName(String(username))}`],
      findings,
    ),
    findings: clients.length > 0 ? [...common, ...findings] : findings,
  }
}
