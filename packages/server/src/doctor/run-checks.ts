import { type Finding, runRules } from '../check-rules/rule.ts'
import type { Facts } from './facts.ts'
import { acceptanceRules, usableRules } from './rules.ts'

/**
 * Marks the findings that the operator has accepted. Adds a finding for each accepted id that no longer occurs, because
 * it would hide the next finding of its kind. An error is never accepted, and can hide other findings, so beside it no
 * id counts as unused.
 */
export function withAccepted(findings: readonly Finding[], accept: readonly string[]): readonly Finding[] {
  const marked = findings.map((finding) =>
    finding.severity !== 'error' && accept.includes(finding.id)
      ? { ...finding, severity: 'accepted' as const }
      : finding,
  )
  if (findings.some(({ severity }) => severity === 'error')) return marked
  const isUnused = (id: string): boolean => findings.every((finding) => finding.id !== id)
  return [...marked, ...runRules(acceptanceRules, { accept, isUnused })]
}

const rank: Readonly<Record<Finding['severity'], number>> = { error: 0, warning: 1, info: 2, accepted: 3 }

/** Returns all findings: errors first, accepted ones last. */
export const runChecks = (facts: Facts): readonly Finding[] =>
  [...withAccepted(runRules(usableRules, facts), facts.configuration.check?.accept ?? [])].sort(
    (left, right) => rank[left.severity] - rank[right.severity],
  )
