import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { type Patterns, patternsOf } from './patterns.ts'

const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'), v.maxLength(2048))
const patterns = v.union(
  [text, v.pipe(v.array(text), v.minLength(1), v.maxLength(20), v.readonly())],
  'must be a string that is not empty, such as "1234", or an array of 1 to 20 such strings',
)

/** The schema of `workload` of a client. */
export const workloadRuleSchema = configurationObject({
  /** The `iss` of the tokens, or `spiffe://` and the trust domain. One of the issuers of the plugin. */
  issuer: text,
  /** The only value of `aud`. Default: `audience` of the issuer. */
  audience: v.optional(text),
  /** The values of `sub`, one of which must match. */
  subject: v.optional(patterns),
  /** The values of other claims, by name, or by JSON pointer for a member of a claim. All of them must match. */
  claims: v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.maxLength(200)), patterns, 'must be an object with the values of claims'),
      v.check((claims) => Object.keys(claims).length <= 20, 'must have at most 20 claims'),
    ),
  ),
})

/** The rule of a client for the tokens that authenticate it. */
export type WorkloadRule = Readonly<v.InferOutput<typeof workloadRuleSchema>>

/** A system that issues tokens to the workloads that run on it. */
export interface Platform {
  /** Default: the operator names it. */
  readonly issuer?: string
  /** The values of `typ`, besides `JWT` and none. */
  readonly types: readonly string[]
  /** Whether a token authenticates only once. `false` where a workload uses one token for its whole lifetime. */
  readonly singleUse: boolean
  /** The form of the text before a `*`, for the claims that can have one. */
  readonly wildcards: Readonly<Record<string, RegExp>>
  /** Returns what a rule lacks to match workloads of one owner only; `undefined` if nothing. */
  problemOf(rule: WorkloadRule): string | undefined
}

const id = /^\d{1,20}$/u
const areAll = (patterns: Patterns | undefined, form: RegExp): boolean =>
  patternsOf(patterns).length > 0 && patternsOf(patterns).every((pattern) => form.test(pattern))
const hasIds = ({ claims = {} }: WorkloadRule, names: readonly string[]): boolean =>
  names.some((name) => areAll(claims[name], id))

const refs = /^refs\/(?:heads|tags)\//u
const inOwner = /^[^/:]+\//u

/** Another owner can take a name after it was renamed or deleted, but never an id. */
const github: Platform = {
  issuer: 'https://token.actions.githubusercontent.com',
  types: [],
  singleUse: true,
  wildcards: {
    sub: /^repo:[^/:]+\/(?:[^/:]+:|$)/u,
    ref: refs,
    repository: inOwner,
    job_workflow_ref: /^[^/:]+\/[^/:]+\//u,
    workflow_ref: /^[^/:]+\/[^/:]+\//u,
  },
  problemOf(rule) {
    const isPinned =
      areAll(rule.subject, /^repo:[^/:@]+@\d{1,20}\//u) || hasIds(rule, ['repository_id', 'repository_owner_id'])
    return isPinned
      ? undefined
      : 'needs repository_id or repository_owner_id in claims, as digits, or a subject with both ids: a name can get another owner'
  },
}

const gitlab: Platform = {
  issuer: 'https://gitlab.com',
  types: [],
  singleUse: true,
  wildcards: {
    sub: /^project_path:[^/:]+\//u,
    ref: /^[^/]+\//u,
    ref_path: refs,
    project_path: inOwner,
    namespace_path: inOwner,
    ci_config_ref_uri: /^[^/]+\/[^/]+\/[^/]+\//u,
  },
  problemOf(rule) {
    const { claims = {} } = rule
    if (!hasIds(rule, ['project_id', 'namespace_id'])) {
      return 'needs project_id or namespace_id in claims, as digits: a path can get another owner'
    }
    return claims.ref !== undefined && claims.ref_type === undefined
      ? 'needs ref_type beside ref, because a tag can have the name of a branch; or ref_path, such as refs/heads/main'
      : undefined
  },
}

const serviceAccount = /^system:serviceaccount:[a-z\d.-]+:(?:[a-z\d.-]+|\*)$/u

const kubernetes: Platform = {
  types: [],
  singleUse: false,
  wildcards: { sub: /^system:serviceaccount:[a-z\d.-]+:$/u },
  problemOf: ({ subject }) =>
    areAll(subject, serviceAccount) ? undefined : 'needs a subject, as in system:serviceaccount:NAMESPACE:NAME',
}

const spiffeId = /^spiffe:\/\/[a-z\d._-]{1,255}(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)+$/u

/** Returns the trust domain of a SPIFFE ID, as `spiffe://` and its name; `undefined` for any other text. */
export const trustDomainOf = (sub: unknown): string | undefined =>
  typeof sub === 'string' && sub.length <= 2048 && spiffeId.test(sub) ? sub.split('/', 3).join('/') : undefined

/** @see SPIFFE JWT-SVID section 3 */
const spiffe: Platform = {
  types: ['jose'],
  singleUse: false,
  wildcards: { sub: /^spiffe:\/\/[^/]+\/[^/]+\//u },
  problemOf({ issuer, subject }) {
    const isPinned = patternsOf(subject).every((pattern) => trustDomainOf(pattern.replace(/\*$/u, 'x')) === issuer)
    return isPinned && subject !== undefined
      ? undefined
      : `needs a subject in ${issuer}, such as ${issuer}/ns/prod/sa/api`
  },
}

/** Any other issuer. The meaning of its claims is not known, so only a whole subject identifies a workload. */
const otherPlatform: Platform = {
  types: [],
  singleUse: false,
  wildcards: {},
  problemOf: ({ subject }) => (patternsOf(subject).length > 0 ? undefined : 'needs a subject'),
}

export const platforms = { github, gitlab, kubernetes, spiffe, other: otherPlatform }
export type PlatformName = keyof typeof platforms

/** The values of `typ` that the token of some platform can have, besides `JWT` and none. */
export const allTypes: readonly string[] = Object.values(platforms).flatMap(({ types }) => types)
