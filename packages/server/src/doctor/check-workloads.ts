import type { Client } from '@grantry/core'
import { each, type RulePart } from '../check-rules/rule.ts'
import type { Named } from './named.ts'

type Workloads = Named<'workload-identity'>
type Rule = NonNullable<Client['workload']>

/**
 * The claims that state which branch, environment or workflow of a repository or project runs, for systems that run
 * changes of strangers, such as pull requests.
 */
const sources: Readonly<Record<string, readonly string[]>> = {
  github: ['ref', 'environment', 'workflow_ref', 'job_workflow_ref', 'ref_protected'],
  gitlab: ['ref', 'ref_path', 'ref_protected', 'environment', 'environment_protected', 'ci_config_ref_uri'],
}

const listOf = (subject: Rule['subject']): readonly string[] => [subject ?? []].flat()

/** Whether the rule allows any branch, also one for a pull request. */
function isAnySource({ subject, claims = {} }: Rule, platform: string): boolean {
  const known = sources[platform]
  if (known === undefined || known.some((name) => claims[name] !== undefined)) return false
  const subjects = listOf(subject)
  return subjects.length === 0 || subjects.some((pattern) => /^[^:]+:[^:]*:?\*$/u.test(pattern))
}

/** Whether the rule allows all workloads of an owner, namespace or group, also those that are created later. */
function isMany({ subject, claims = {} }: Rule, platform: string): boolean {
  const subjects = listOf(subject)
  if (platform === 'kubernetes' || platform === 'spiffe') return subjects.some((pattern) => pattern.endsWith('*'))
  const names = platform === 'github' ? ['repository_id', 'repository'] : ['project_id', 'project_path']
  const isNamed = names.some((name) => [claims[name] ?? []].flat().some((value) => !value.endsWith('*')))
  const ofOne = subjects.length > 0 && subjects.every((pattern) => /^[^:]+:[^:*]+(?::|$)/u.test(pattern))
  return sources[platform] !== undefined && !isNamed && !ofOne
}

const defaultNames: Readonly<Record<string, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
}

const issuersOf = ({ plugin: { issuers }, path }: Workloads) =>
  issuers.map((issuer, index) => ({ ...issuer, path: `${path}.issuers[${index}]` }))

/** Returns the rules of clients, with the platform and the audience of their issuer. */
function rulesOf({ plugin: { issuers }, facts: { clients, configuration } }: Workloads) {
  const byName = new Map(issuers.map((entry) => [entry.issuer ?? defaultNames[entry.platform], entry]))
  return clients.flatMap(({ workload: rule, enabled }, index) => {
    const of = rule && byName.get(rule.issuer)
    if (rule === undefined || of === undefined || !enabled) return []
    const { issuer: serverIssuer } = configuration
    const { audience = of.audience ?? serverIssuer } = rule
    return [{ rule, platform: of.platform, audience, serverIssuer, path: `clients[${index}].workload` }]
  })
}

/** The rules for the workloads that the rules of clients, and the issuers, allow. */
export const workloadRules: readonly RulePart<Workloads>[] = [
  each(issuersOf, [
    {
      id: 'workload-keys-private',
      severity: 'warning',
      remedy: 'set the keys of internal issuers as jwks, and remove allowPrivateAddresses',
      source: 'RFC 9700 section 4.11; docs/guides/workload-identity.md',
      reason: 'The keys of the issuer can be fetched from any address in the network of this server',
      check: ({ allowPrivateAddresses, path }) => allowPrivateAddresses === true && `${path}.allowPrivateAddresses`,
    },
    {
      id: 'workload-token-reusable',
      severity: 'warning',
      remedy: 'remove singleUse: false',
      source: 'RFC 7523 section 3; docs/guides/workload-identity.md',
      reason: 'An attacker who reads a token in the log of a job can act as the client until the token expires',
      check: ({ platform, singleUse, path }) =>
        sources[platform] !== undefined && singleUse === false && `${path}.singleUse`,
    },
  ]),
  each(rulesOf, [
    {
      id: 'workload-any-source',
      severity: 'warning',
      remedy: 'add the branch, the environment or the workflow to the claims of the rule',
      source: 'docs/guides/workload-identity.md',
      reason: 'The rule allows every branch: a user who can push one can act as the client',
      check: ({ rule, platform, path }) => isAnySource(rule, platform) && `${path}.claims`,
    },
    {
      id: 'workload-many',
      severity: 'warning',
      remedy: 'name each workload, in subject as a list or with a client of its own',
      source: 'docs/guides/workload-identity.md',
      reason: 'The rule allows all workloads of an owner or namespace, also those that are created later',
      check: ({ rule, platform, path: where }) => isMany(rule, platform) && where,
    },
    {
      id: 'workload-audience-foreign',
      severity: 'warning',
      remedy: 'let the workloads request tokens for the issuer of this server, and remove audience',
      source: 'draft-ietf-oauth-rfc7523bis section 4; docs/guides/workload-identity.md',
      check: ({ audience, serverIssuer, path }) =>
        audience !== serverIssuer && {
          where: `${path}.audience`,
          reason: `Tokens for ${audience} are accepted: a service that gets them for another purpose can act as the client`,
        },
    },
  ]),
]
