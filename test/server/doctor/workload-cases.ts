import { client, type FindingCase, type HealthyCase, healthy } from './configurations.ts'

const github = 'https://token.actions.githubusercontent.com'
const cluster = 'https://oidc.cluster.example.com'

const withRule = (workload: object, issuer: object = { platform: 'github' }) => ({
  ...healthy,
  clients: [client, { ...client, clientId: 'job', secrets: [], workload }],
  plugins: [{ name: 'workload-identity', issuers: [issuer] }],
})

const subject = 'system:serviceaccount:payments:worker'
const pinned = { issuer: github, claims: { repository_id: '2002', ref: 'refs/heads/main' } }

/** Configurations with rules that name one workload. */
export const healthyWorkloads: readonly HealthyCase[] = [
  ['workload-identity', withRule(pinned)],
  ['a rule for a service account', withRule({ issuer: cluster, subject }, { platform: 'kubernetes', issuer: cluster })],
  ['a rule with a subject of GitHub', withRule({ issuer: github, subject: 'repo:a@1/b@2:ref:refs/heads/*' })],
]

const path = 'clients[1].workload'

/** Rules of clients and issuers, and the expected finding. */
export const workloadCases: readonly FindingCase[] = [
  [
    'a rule for every branch of a repository',
    withRule({ issuer: github, claims: { repository_id: '2002' } }),
    { id: 'workload-any-source', severity: 'warning', where: `${path}.claims` },
  ],
  [
    'a rule for every branch of a repository, by its subject',
    withRule({ issuer: github, subject: 'repo:a@1/b@2:*' }),
    { id: 'workload-any-source', severity: 'warning', where: `${path}.claims` },
  ],
  [
    'a rule for every repository of an owner',
    withRule({ issuer: github, claims: { repository_owner_id: '1001', ref: 'refs/heads/main' } }),
    { id: 'workload-many', severity: 'warning', where: path },
  ],
  [
    'a rule for every service account of a namespace',
    withRule(
      { issuer: cluster, subject: 'system:serviceaccount:payments:*' },
      { platform: 'kubernetes', issuer: cluster },
    ),
    { id: 'workload-many', severity: 'warning', where: path },
  ],
  [
    'a rule for tokens that other services get',
    withRule({ ...pinned, audience: 'sts.example.com' }),
    { id: 'workload-audience-foreign', severity: 'warning', where: `${path}.audience` },
  ],
  [
    'an issuer in the local network',
    withRule(pinned, { platform: 'github', allowPrivateAddresses: true }),
    { id: 'workload-keys-private', severity: 'warning', where: 'plugins[0].issuers[0].allowPrivateAddresses' },
  ],
  [
    'tokens of jobs that can be used again',
    withRule(pinned, { platform: 'github', singleUse: false }),
    { id: 'workload-token-reusable', severity: 'warning', where: 'plugins[0].issuers[0].singleUse' },
  ],
]
