import type { RuleId } from './rules.ts'
import { rules } from './rules.ts'

export type Severity = 'error' | 'warning' | 'info'

/** Something that an operator should know, with what to do about it. No secret is ever in one. */
export interface Finding {
  readonly id: RuleId
  readonly severity: Severity
  /** A path in the configuration, a file, or `storage` itself. */
  readonly where: string
  /** One sentence: what is so, and why it matters. */
  readonly reason: string
  readonly remedy: string
  /** Where it is written. */
  readonly source: string
}

/** @param severity where this case is milder or worse than the rule */
export function finding(id: RuleId, where: string, reason: string, severity?: Severity): Finding {
  const rule = rules[id]
  return { id, severity: severity ?? rule.severity, where, reason, remedy: rule.remedy, source: rule.source }
}
