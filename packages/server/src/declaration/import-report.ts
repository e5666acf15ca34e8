import { type Consequence, consequences, type Finding, type Imported } from '@grantry/administration/import'
import { counted } from '../counted.ts'
import { sanitizeText } from '../sanitize-text.ts'

const headings: Readonly<Record<Consequence, string>> = {
  'sign-in': 'Breaks a sign-in, a sign-out or a request for tokens',
  sub: 'Changes the sub of users',
  token: 'Changes a token or a response',
  unknown: 'Depends on its meaning in the other system',
  cosmetic: 'Changes nothing that users or APIs need',
}

const parts: Readonly<Record<Consequence, string>> = {
  'sign-in': 'can break a sign-in',
  sub: 'change a sub',
  token: 'change a token',
  unknown: 'depend on their meaning',
  cosmetic: 'are cosmetic',
}

/** The maximum number of entries that a line names. */
const maxNamed = 5

const count = (list: readonly unknown[], noun: string): string => counted(list.length, noun)

/** Returns one line for all entries with the same note. Names can come from an untrusted source. */
function linesOf(findings: readonly Finding[]): readonly string[] {
  const entries = new Map<string, string[]>()
  for (const { entry, member, what, outcome } of findings) {
    const note = `${member === undefined ? '' : `${member}: `}${what} (${outcome})`
    const all = entries.get(note)
    if (all === undefined) entries.set(note, [entry])
    else all.push(entry)
  }
  return [...entries].map(([note, all]) => {
    const rest = all.length - maxNamed
    return sanitizeText(`  ${all.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}: ${note}`)
  })
}

const having = (entries: readonly object[], member: string): number =>
  entries.filter((entry) => Object.hasOwn(entry, member)).length

/**
 * Returns a report of what an import has changed and lost, ordered by the consequences for users and APIs, and of what
 * it has taken over.
 */
export function importReport({ scopes, clients, users, findings }: Imported): string {
  const sections = consequences.flatMap((consequence) => {
    const ofConsequence = findings.filter((finding) => finding.consequence === consequence)
    return ofConsequence.length === 0 ? [] : [`${headings[consequence]}:`, ...linesOf(ofConsequence), '']
  })
  const counts = consequences.flatMap((consequence) => {
    const findingCount = findings.filter((finding) => finding.consequence === consequence).length
    return findingCount === 0 ? [] : [`${findingCount} ${parts[consequence]}`]
  })
  const carried = [
    `${count(clients, 'client')} (${having(clients, 'secrets')} with secrets, ${having(clients, 'enabled')} disabled)`,
    count(scopes, 'scope'),
    `${count(users, 'user')} (${having(users, 'password')} with passwords, ${having(users, 'active')} disabled)`,
  ]
  const summary = `Imported ${carried.join(', ')}; ${count(findings, 'note')}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}.`
  return `${[...sections, summary].join('\n')}\n`
}
