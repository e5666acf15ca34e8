import type { ClientOptions } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { type WorkloadIdentityOptions, type WorkloadRule, workloadIdentity } from '@grantry/plugins/workload-identity'
import { createTestProvider, read, type TestProvider, type TestProviderOptions } from '@grantry/testing'
import { type JWTHeaderParameters, SignJWT } from 'jose'
import { createKey, now } from '../client-assertion/assertions.ts'

export { createKey, now } from '../client-assertion/assertions.ts'

export const issuer = 'https://id.example.com'
export const github = 'https://token.actions.githubusercontent.com'
export const gitlab = 'https://gitlab.com'
export const cluster = 'https://oidc.cluster.example.com'
export const trustDomain = 'spiffe://prod.example.com'

export type Key = Awaited<ReturnType<typeof createKey>>

/** The keys of the issuers. Clusters and CI systems sign with RSA. */
export const keys = {
  github: await createKey('RS256', { kid: 'github-1', use: 'sig' }),
  gitlab: await createKey('RS256', { kid: 'gitlab-1', use: 'sig', alg: 'RS256' }),
  cluster: await createKey('RS256', { kid: 'cluster-1', use: 'sig', alg: 'RS256' }),
  spiffe: await createKey('ES256', { kid: 'spiffe-1', use: 'jwt-svid' }),
}

export const issuers: WorkloadIdentityOptions['issuers'] = [
  { platform: 'github', jwks: { keys: [keys.github.jwk] } },
  { platform: 'gitlab', jwks: { keys: [keys.gitlab.jwk] } },
  { platform: 'kubernetes', issuer: cluster, jwks: { keys: [keys.cluster.jwk] } },
  { platform: 'spiffe', issuer: trustDomain, jwks: { keys: [keys.spiffe.jwk] } },
]

let count = 0
const jti = (): string => {
  count += 1
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
}

type Claims = Readonly<Record<string, unknown>>
type Header = Partial<JWTHeaderParameters>

const sign = (claims: Claims, { privateKey }: Key, header: JWTHeaderParameters): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader(header).sign(privateKey)

/** A token of GitHub Actions, for a push to the main branch of a repository that was created after 2026-07-15. */
export const githubClaims = (): Claims => ({
  jti: jti(),
  sub: 'repo:acme@1001/deploy@2002:ref:refs/heads/main',
  aud: issuer,
  iss: github,
  ref: 'refs/heads/main',
  sha: '1f1c1d4ddb4a7f4f2d5b5b0f5a1a3d1f0f1e2d3c',
  repository: 'acme/deploy',
  repository_owner: 'acme',
  repository_owner_id: '1001',
  repository_id: '2002',
  repository_visibility: 'private',
  run_id: '7000000001',
  run_number: '10',
  run_attempt: '2',
  actor: 'octocat',
  actor_id: '12',
  workflow: 'deploy',
  workflow_ref: 'acme/deploy/.github/workflows/deploy.yml@refs/heads/main',
  job_workflow_ref: 'acme/shared/.github/workflows/release.yml@refs/tags/v3',
  event_name: 'push',
  ref_type: 'branch',
  ref_protected: 'true',
  runner_environment: 'github-hosted',
  environment: 'production',
  head_ref: '',
  base_ref: '',
  iat: now,
  nbf: now - 600,
  exp: now + 300,
})

/** An ID token of GitLab CI. */
export const gitlabClaims = (): Claims => ({
  namespace_id: '72',
  namespace_path: 'acme/platform',
  project_id: '20',
  project_path: 'acme/platform/deploy',
  user_id: '1',
  user_login: 'sample',
  user_email: 'sample@example.com',
  user_access_level: 'maintainer',
  pipeline_id: '574',
  pipeline_source: 'push',
  job_id: '302',
  ref: 'main',
  ref_type: 'branch',
  ref_path: 'refs/heads/main',
  ref_protected: 'true',
  environment: 'production',
  environment_protected: 'true',
  ci_config_ref_uri: 'gitlab.com/acme/platform/deploy//.gitlab-ci.yml@refs/heads/main',
  project_visibility: 'private',
  jti: jti(),
  iss: gitlab,
  iat: now,
  nbf: now - 5,
  exp: now + 3600,
  sub: 'project_path:acme/platform/deploy:ref_type:branch:ref:main',
  aud: issuer,
})

/** A projected token of a service account: a list with one audience, and no `typ`. */
export const clusterClaims = (): Claims => ({
  aud: [issuer],
  exp: now + 3600,
  iat: now,
  iss: cluster,
  'kubernetes.io': {
    namespace: 'payments',
    node: { name: 'node-1', uid: 'a2b5' },
    pod: { name: 'worker-74bf7f6fc8-clw9s', uid: 'f6156f01' },
    serviceaccount: { name: 'worker', uid: 'cb3fdf02' },
  },
  nbf: now,
  sub: 'system:serviceaccount:payments:worker',
})

/** A JWT-SVID: no `iss`, no `jti`. */
export const svidClaims = (): Claims => ({
  aud: [issuer],
  exp: now + 300,
  iat: now,
  sub: `${trustDomain}/ns/payments/sa/worker`,
})

export const tokens = {
  github: (more: Claims = {}, key = keys.github, header: Header = {}) =>
    sign({ ...githubClaims(), ...more }, key, { typ: 'JWT', alg: 'RS256', kid: 'github-1', ...header }),
  gitlab: (more: Claims = {}, key = keys.gitlab, header: Header = {}) =>
    sign({ ...gitlabClaims(), ...more }, key, { typ: 'JWT', alg: 'RS256', kid: 'gitlab-1', ...header }),
  cluster: (more: Claims = {}, key = keys.cluster, header: Header = {}) =>
    sign({ ...clusterClaims(), ...more }, key, { alg: 'RS256', kid: 'cluster-1', ...header }),
  spiffe: (more: Claims = {}, key = keys.spiffe, header: Header = {}) =>
    sign({ ...svidClaims(), ...more }, key, { alg: 'ES256', kid: 'spiffe-1', typ: 'JOSE', ...header }),
}

export const rules = {
  github: { issuer: github, claims: { repository_id: '2002', ref: 'refs/heads/main' } },
  gitlab: { issuer: gitlab, claims: { project_id: '20', ref_path: 'refs/heads/main', ref_protected: 'true' } },
  cluster: { issuer: cluster, subject: 'system:serviceaccount:payments:worker' },
  spiffe: { issuer: trustDomain, subject: `${trustDomain}/ns/payments/sa/worker` },
} satisfies Record<string, WorkloadRule>

export const client = (clientId: string, workload: WorkloadRule, more: Partial<ClientOptions> = {}): ClientOptions => ({
  clientId,
  workload,
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
  ...more,
})

export const clients: readonly ClientOptions[] = Object.entries(rules).map(([name, rule]) => client(name, rule))

export const setUp = async (
  options: Partial<WorkloadIdentityOptions> = {},
  more: Partial<TestProviderOptions> = {},
): Promise<TestProvider> =>
  createTestProvider({
    issuer,
    plugins: [clientCredentials(), clientAssertion(), workloadIdentity({ issuers, ...options })],
    clients: [...clients],
    scopes: [{ name: 'api1' }],
    ...more,
  })

const type = 'urn:ietf:params:oauth:client-assertion-type:'

export async function present(f: TestProvider, jwt: string, clientId: string | undefined, kind = 'jwt-bearer') {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api1',
    client_assertion_type: `${type}${kind}`,
    client_assertion: jwt,
    ...(clientId !== undefined && { client_id: clientId }),
  })
  return read(await f.provider.fetch(new Request(`${issuer}/connect/token`, { method: 'POST', body })))
}

const prefix = 'plugin:workload-identity:'

/** The status, and the reason in the event, without the name of the plugin. */
export async function outcomeOf(f: TestProvider, jwt: string, clientId: string | undefined, kind?: string) {
  const before = f.events.length
  const { status } = await present(f, jwt, clientId, kind)
  const failed = f.events
    .slice(before)
    .flatMap((event) => (event.type === 'client_authentication_failed' ? [event.reason] : []))
  return [status, failed.at(-1)?.replace(prefix, '')]
}
