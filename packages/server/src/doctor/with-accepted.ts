import { type Finding, finding } from './finding.ts'

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
