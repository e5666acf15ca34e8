// A rule is one value: how a setting is found, why it matters, and what to do about it. Rules stand in a list, in the
// order of their findings.
import type { Rule, RuleFinding, RuleMatch } from '@grantry/core'

type Severity = Rule['severity']

/** What docs/guides/doctor.md lists. Sections of OAuth 2.1 in `source` refer to draft-ietf-oauth-v2-1-15. */
export type RuleText = Pick<Rule, 'id' | 'severity' | 'remedy' | 'source'>

/** `severity` overrides that of the rule. */
type Match = RuleMatch & { readonly severity?: Severity }

/**
 * A rule about a subject: a client with its path, a plugin, or all facts. A rule with `reason` has the same reason for
 * all matches, and returns their places only.
 */
export type RuleOf<S> = RuleText &
  (
    | { readonly reason: string; readonly check: (subject: S) => string | false | undefined }
    | { readonly reason?: never; readonly check: (subject: S) => Match | readonly Match[] | false | undefined }
  )

/** Rules that run for one subject after the other. */
export interface RuleGroup<S> {
  readonly rules: readonly RuleText[]
  readonly run: (subject: S) => readonly Finding[]
}

export type RulePart<S> = RuleOf<S> | RuleGroup<S>

/** A problem and its remedy. It never contains a secret. */
export interface Finding extends Omit<RuleFinding, 'id' | 'severity'> {
  /** A rule of the server, or of a plugin, such as `tags:tag-missing`. */
  readonly id: string
  /** `accepted`: the operator has decided that it is no problem. */
  readonly severity: Severity | 'accepted'
}

function runPart<S>(part: RulePart<S>, subject: S): readonly Finding[] {
  if ('run' in part) return part.run(subject)
  const { id, severity, remedy, source, reason = '', check } = part
  const matches = [check(subject) || []].flat()
  return matches.map((match) => ({
    id,
    severity,
    ...(typeof match === 'string' ? { where: match, reason } : match),
    remedy,
    source,
  }))
}

/** Returns what rules find about a subject, in their order. */
export const runRules = <S>(parts: readonly RulePart<S>[], subject: S): readonly Finding[] =>
  parts.flatMap((part) => runPart(part, subject))

/** Groups rules that are about parts of a subject, such as each of its clients. */
export const each = <S, T>(
  subjectsOf: (subject: S) => readonly T[],
  parts: readonly RulePart<NoInfer<T>>[],
): RuleGroup<S> => ({
  rules: textsOf(parts),
  run: (subject) => subjectsOf(subject).flatMap((item) => runRules(parts, item)),
})

/** Returns each rule once, in their order. */
export const textsOf = (parts: readonly RulePart<never>[]): readonly RuleText[] => [
  ...new Map(parts.flatMap((part) => ('run' in part ? part.rules : [part])).map((rule) => [rule.id, rule])).values(),
]
