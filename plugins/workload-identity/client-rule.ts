import type { Client, ClientProblem } from '@grantry/core'
import { ownMembers, patternProblem, patternsOf } from './patterns.ts'
import { platforms, type WorkloadRule } from './platforms.ts'
import type { WorkloadIssuer } from './workload-options.ts'

/** Returns why the values of a claim are refused. */
function valuesProblem(rule: WorkloadRule, platform: WorkloadIssuer['platform']): string | undefined {
  const { wildcards } = platforms[platform]
  const values = [['sub', rule.subject] as const, ...Object.entries(rule.claims ?? {})]
  for (const [claim, value] of values) {
    const name = claim === 'sub' ? 'subject' : `claims["${claim}"]`
    const least = Object.hasOwn(wildcards, claim) ? wildcards[claim] : undefined
    const problem = patternsOf(value)
      .map((pattern) => patternProblem(pattern, least))
      .find((candidate) => candidate !== undefined)
    if (problem !== undefined) return `has a ${name} that ${problem}`
  }
  return undefined
}

/** Creates the check of a client's rule, which must match workloads of one owner only. */
export function createRuleCheck(issuers: ReadonlyMap<string, WorkloadIssuer>) {
  return ({ workload: rule }: Client): ClientProblem | undefined => {
    if (rule === undefined) return undefined
    const of = (problem: string): ClientProblem => ({ member: 'workload', problem })
    const issuer = issuers.get(rule.issuer)
    if (issuer === undefined) return of('must have an issuer that the plugin workload-identity has')
    const { platform } = issuer
    const foreign = Object.keys(rule.claims ?? {}).find((name) => Object.hasOwn(ownMembers, name))
    if (foreign !== undefined) return of(`must have ${ownMembers[foreign]} instead of ${foreign} in claims`)
    const { audience = issuer.audience } = rule
    if (audience === rule.issuer)
      return of('must not have the issuer of the tokens as audience: its own services accept such tokens')
    if (platform === 'github' && audience !== undefined && /^https:\/\/github\.com(?:\/|$)/u.test(audience)) {
      return of('must not have an audience of github.com: tokens for any service have it by default')
    }
    const problem = valuesProblem(rule, platform) ?? platforms[platform].problemOf(rule)
    return problem === undefined ? undefined : of(problem)
  }
}
