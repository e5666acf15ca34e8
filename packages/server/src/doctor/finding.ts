import type { RuleFinding } from '@grantry/core'
import { type RuleId, rules, type Severity } from '../check-rules/rules.ts'

export type FindingId = RuleId | RuleFinding['id']

/** A problem and its remedy. It never contains a secret. */
export interface Finding {
  /** A rule of the server, or of a plugin, such as `tags:tag-missing`. */
  readonly id: FindingId
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
