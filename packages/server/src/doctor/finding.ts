import { type RuleId, rules, type Severity } from './rules.ts'

/** A problem and its remedy. It never contains a secret. */
export interface Finding {
  readonly id: RuleId
  /** `accepted`: the operator has decided that it is no problem. */
  readonly severity: Severity | 'accepted'
  /** A path in the configuration, a file, or `storage` itself. */
  readonly where: string
  /** One sentence: what is wrong, and why it matters. */
  readonly reason: string
  readonly remedy: string
  /** The specification or document behind the rule. */
  readonly source: string
}

/** @param severity overrides the severity of the rule */
export function finding(id: RuleId, where: string, reason: string, severity?: Severity): Finding {
  const rule = rules[id]
  return { id, severity: severity ?? rule.severity, where, reason, remedy: rule.remedy, source: rule.source }
}
