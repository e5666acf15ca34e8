import { type Client, type ClientProblem, configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { ownMembers, patternProblem, patternsOf } from './patterns.ts'
import { platforms, type WorkloadRule } from './platforms.ts'
import type { WorkloadIssuer } from './workload-options.ts'

const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'), v.maxLength(2048))
const patterns = v.union(
  [text, v.pipe(v.array(text), v.minLength(1), v.maxLength(20), v.readonly())],
  'must be a string that is not empty, such as "1234", or an array of 1 to 20 such strings',
)

/** The schema of `workload` of a client. */
export const workloadRuleSchema = configurationObject({
  issuer: text,
  audience: v.optional(text),
  subject: v.optional(patterns),
  claims: v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.maxLength(200)), patterns, 'must be an object with the values of claims'),
      v.check((claims) => Object.keys(claims).length <= 20, 'must have at most 20 claims'),
    ),
  ),
})

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

/** Checks the rule of a client: it must match workloads of one owner only. */
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
