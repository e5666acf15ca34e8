import type { Client } from '@grantry/core'
import type { NamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type WorkloadPlugin = Extract<NamedPlugin, { readonly name: 'workload-identity' }>
type Issuer = WorkloadPlugin['issuers'][number]
type Rule = NonNullable<Client['workload']>

/** The claims that say what of a repository or project runs, for systems that run what others have changed. */
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
  return subjects.length === 0 || subjects.some((one) => /^[^:]+:[^:]*:?\*$/u.test(one))
}

/** Whether the rule allows all workloads of an owner, namespace or group, also those that are created later. */
function isMany({ subject, claims = {} }: Rule, platform: string): boolean {
  const subjects = listOf(subject)
  if (platform === 'kubernetes' || platform === 'spiffe') return subjects.some((one) => one.endsWith('*'))
  const names = platform === 'github' ? ['repository_id', 'repository'] : ['project_id', 'project_path']
  const isNamed = names.some((name) => [claims[name] ?? []].flat().some((value) => !value.endsWith('*')))
  const ofOne = subjects.length > 0 && subjects.every((one) => /^[^:]+:[^:*]+(?::|$)/u.test(one))
  return sources[platform] !== undefined && !isNamed && !ofOne
}

function checkRule(rule: Rule, { platform, audience: configured }: Issuer, path: string, issuer: string) {
  const { audience = configured ?? issuer } = rule
  const found: Finding[] = []
  if (isAnySource(rule, platform)) {
    const reason = 'The rule allows every branch: a user who can push one can be the client'
    found.push(finding('workload-any-source', `${path}.claims`, reason))
  }
  if (isMany(rule, platform)) {
    const reason = 'The rule allows all workloads of an owner or namespace, also those that are created later'
    found.push(finding('workload-many', path, reason))
  }
  if (audience !== issuer) {
    const reason = `Tokens for ${audience} are accepted: a service that gets them for another purpose can be the client`
    found.push(finding('workload-audience-foreign', `${path}.audience`, reason))
  }
  return found
}

const defaultNames: Readonly<Record<string, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
}

/** Checks which workloads the rules of clients allow, and what the issuers allow. */
export function checkWorkloads({ issuers }: WorkloadPlugin, path: string, facts: Facts): readonly Finding[] {
  const { issuer } = facts.configuration
  const byName = new Map(issuers.map((one) => [one.issuer ?? defaultNames[one.platform], one]))
  return [
    ...issuers.flatMap(({ platform, allowPrivateAddresses, singleUse }, index) => {
      const internal = 'The host of the issuer can be at any address of the network of this server'
      const reusable = 'A reader of a token in the log of a job can be the client until it expires'
      const where = `${path}.issuers[${index}]`
      return [
        ...(allowPrivateAddresses
          ? [finding('workload-keys-private', `${where}.allowPrivateAddresses`, internal)]
          : []),
        ...(sources[platform] !== undefined && singleUse === false
          ? [finding('workload-token-reusable', `${where}.singleUse`, reusable)]
          : []),
      ]
    }),
    ...facts.clients.flatMap(({ workload, enabled }, index) => {
      const of = workload && byName.get(workload.issuer)
      if (workload === undefined || of === undefined || !enabled) return []
      return checkRule(workload, of, `clients[${index}].workload`, issuer)
    }),
  ]
}
