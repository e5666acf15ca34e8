import type { Client } from '../directory/client.ts'
import type { Scope } from '../directory/scope.ts'

/** A setting that works, but should change. */
export interface StartupWarning {
  readonly reason: string
  readonly message: string
}

/** The facts about a provider that a rule reads. */
export interface RuleFacts {
  readonly issuer: string
  readonly grantTypes: readonly string[]
  /** The clients of the options, with defaults. Those of a function of the host, or of the storage, are not among them. */
  readonly clients: readonly Client[]
  /** The scopes of the options, those of plugins and the standard ones, in an order of their own. */
  readonly scopes: readonly Scope[]
}

/** A setting that a rule is about: where it is, and one sentence that says what is wrong, without a period. */
export interface RuleMatch {
  /** A path in the options, such as `clients[0].tag`. */
  readonly where: string
  /** What is wrong. The sentence contains no secret. */
  readonly reason: string
}

/** A setting that works but should change: how it is found in facts, and what to do about it. */
export interface Rule {
  /** Words with hyphens, such as `tag-missing`. Each rule of a plugin has another. */
  readonly id: string
  readonly severity: 'error' | 'warning' | 'info'
  /** What to do, without a capital at the start and a period at the end. */
  readonly remedy: string
  /** The specification or document behind the rule. */
  readonly source: string
  /** `start`: a `startup_warning` event. `check`: a finding of `provider.findings()`, which `grantry check` shows. */
  readonly at: 'start' | 'check' | 'both'
  readonly check: (facts: RuleFacts) => readonly RuleMatch[]
}

/** What a rule has found. */
export interface RuleFinding extends RuleMatch, Pick<Rule, 'severity' | 'remedy' | 'source'> {
  /** The rule, after the plugin if one has brought it, such as `tags:tag-missing`. */
  readonly id: string
}

/** A rule under the id of its findings, with the reason of its warnings. */
export interface NamedRule extends Omit<Rule, 'at'> {
  readonly warning: string
  /** Default: `both`. */
  readonly at?: Rule['at'] | undefined
}
