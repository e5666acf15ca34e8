import type { WorkloadIdentityOptions, WorkloadRule } from '@grantry/plugins/workload-identity'
import { describe, expect, test } from 'vitest'
import {
  client,
  cluster,
  github,
  gitlab,
  issuer,
  keys,
  outcomeOf,
  rules,
  setUp,
  tokens,
  trustDomain,
} from './parties.ts'

const start = (workload: WorkloadRule) => setUp({}, { clients: [client('one', workload)] })
const withGithub = (claims: WorkloadRule['claims']) => ({
  ...rules.github,
  claims: { ...rules.github.claims, ...claims },
})

describe('2.20 a rule that could match workloads of others is refused at start', () => {
  const pinned = 'needs repository_id or repository_owner_id'
  const afterDelimiter = 'can have a * only after / or :'
  const tooMuch = 'has a * that covers too much'
  test.each<[string, WorkloadRule, string]>([
    ['no claim of the owner', { issuer: github, claims: { ref: 'refs/heads/main' } }, pinned],
    ['a name that can be registered again', { issuer: github, claims: { repository: 'acme/deploy' } }, pinned],
    ['a subject of names', { issuer: github, subject: 'repo:acme/deploy:ref:refs/heads/main' }, pinned],
    ['one of two subjects without ids', { issuer: github, subject: ['repo:a@1/b@2:x', 'repo:a/b:x'] }, pinned],
    ['an id that is no number', { issuer: github, claims: { repository_id: 'acme' } }, pinned],
    ['a wildcard for an id', withGithub({ repository_id: '2*' }), afterDelimiter],
    ['a prefix of an owner', withGithub({ repository: 'acme*' }), afterDelimiter],
    ['a prefix of an owner in the subject', { ...rules.github, subject: 'repo:acme*' }, afterDelimiter],
    ['every owner', { ...rules.github, subject: 'repo:*' }, tooMuch],
    ['every subject', { ...rules.github, subject: '*' }, afterDelimiter],
    ['every branch and pull request', withGithub({ ref: 'refs/*' }), tooMuch],
    ['a prefix of a branch', withGithub({ ref: 'refs/heads/release*' }), afterDelimiter],
    ['a wildcard in between', withGithub({ ref: 'refs/heads/*/x' }), 'can have a * only at its end'],
    ['two wildcards', { ...rules.github, subject: 'repo:acme/*:*' }, 'can have a * only at its end'],
    ['every workflow of a user', withGithub({ job_workflow_ref: 'acme/*' }), tooMuch],
    ['an environment', withGithub({ environment: 'prod/*' }), 'compared exactly'],
    [
      'a path of a group',
      { issuer: gitlab, claims: { project_path: 'acme/deploy' } },
      'needs project_id or namespace_id',
    ],
    [
      'a tag with the name of a branch',
      { issuer: gitlab, claims: { project_id: '20', ref: 'main' } },
      'needs ref_type beside ref',
    ],
    ['every namespace', { issuer: cluster, subject: 'system:serviceaccount:*' }, tooMuch],
    ['a prefix of a namespace', { issuer: cluster, subject: 'system:serviceaccount:pay*' }, afterDelimiter],
    ['no service account', { issuer: cluster, claims: { '/kubernetes.io/namespace': 'payments' } }, 'needs a subject'],
    ['a user of the cluster', { issuer: cluster, subject: 'admin' }, 'needs a subject, as in system:serviceaccount'],
    ['a whole trust domain', { issuer: trustDomain, subject: `${trustDomain}/*` }, tooMuch],
    [
      'another trust domain',
      { issuer: trustDomain, subject: 'spiffe://evil.example.com/ns/x' },
      'needs a subject in spiffe://',
    ],
    ['no subject', { issuer: trustDomain }, 'needs a subject in spiffe://'],
    [
      'an issuer that is not configured',
      { ...rules.github, issuer: 'https://evil.example.com' },
      'must have an issuer',
    ],
    ['another issuer in a claim', withGithub({ iss: gitlab }), 'must have issuer instead of iss'],
    ['a subject in a claim', withGithub({ sub: 'repo:acme/*' }), 'must have subject instead of sub'],
    [
      'an audience that every service gets',
      { ...rules.github, audience: 'https://github.com/acme' },
      'must not have an audience of github.com',
    ],
    [
      'the audience of the cluster',
      { ...rules.cluster, audience: cluster },
      'must not have the issuer of the tokens as audience',
    ],
    ['a number', withGithub({ run_attempt: 1 as never }), 'must be a string that is not empty'],
    ['no value', withGithub({ ref: [] }), 'must be a string that is not empty'],
    ['a mistyped member', { ...rules.github, claim: {} } as never, 'did you mean claims?'],
  ])('%s', async (_, rule, problem) => {
    await expect(start(rule)).rejects.toThrow(problem)
  })

  test('by an error that names the client', async () => {
    await expect(start({ issuer: github })).rejects.toThrow(/clients\[0\] \("[\w-]+"\): workload needs repository_id/u)
  })
})

describe('2.19 a rule is compared with the claims of the token', () => {
  const immutable = 'repo:acme@1001/deploy@2002:'
  test.each<[string, WorkloadRule, boolean]>([
    ['one of several values', withGithub({ ref: ['refs/heads/release', 'refs/heads/main'] }), true],
    ['a branch below a path', withGithub({ ref: 'refs/heads/*' }), true],
    [
      'a workflow of another repository',
      withGithub({ job_workflow_ref: 'acme/shared/.github/workflows/release.yml@refs/tags/*' }),
      true,
    ],
    ['a subject with ids', { issuer: github, subject: `${immutable}*` }, true],
    ['the owner only', { issuer: github, claims: { repository_owner_id: '1001' } }, true],
    ['another environment', withGithub({ environment: 'staging' }), false],
    ['a claim that is missing', withGithub({ enterprise: 'acme' }), false],
    ['a claim with an empty value', withGithub({ head_ref: 'x' }), false],
    ['nothing where the wildcard is', { issuer: github, subject: `${immutable}ref:refs/heads/main/*` }, false],
    ['the name of a prototype', withGithub({ toString: 'x', '/constructor/name': 'Object' }), false],
  ])('%s', async (_, rule, isAllowed) => {
    const f = await start(rule)
    expect(await outcomeOf(f, await tokens.github(), 'one')).toEqual(
      isAllowed ? [200, undefined] : [401, 'claim_mismatch'],
    )
  })

  test.each<[string, string, boolean]>([
    ['/kubernetes.io/serviceaccount/uid', 'cb3fdf02', true],
    ['/kubernetes.io/pod/name', 'worker-74bf7f6fc8-clw9s', true],
    ['/kubernetes.io/namespace/0', 'p', false],
    ['/aud/0', issuer, false],
    ['kubernetes.io', '[object Object]', false],
    ['/kubernetes~1io/namespace', 'payments', false],
  ])('by the JSON pointer %s', async (pointer, value, isAllowed) => {
    const f = await start({ ...rules.cluster, claims: { [pointer]: value } })
    expect((await outcomeOf(f, await tokens.cluster(), 'one'))[0]).toBe(isAllowed ? 200 : 401)
  })

  test('a namespace stands for its service accounts, and not for those of a longer name', async () => {
    const f = await start({ issuer: cluster, subject: 'system:serviceaccount:payments:*' })
    expect((await outcomeOf(f, await tokens.cluster(), 'one'))[0]).toBe(200)
    const ofOtherNamespace = await tokens.cluster({ sub: 'system:serviceaccount:payments-evil:worker' })
    expect(await outcomeOf(f, ofOtherNamespace, 'one')).toEqual([401, 'claim_mismatch'])
  })

  test('an id can be a number, and true can be a text', async () => {
    const f = await start({ issuer: gitlab, claims: { project_id: '20', ref_protected: 'true' } })
    const typed = await tokens.gitlab({ project_id: 20, ref_protected: true })
    expect(await outcomeOf(f, typed, 'one')).toEqual([200, undefined])
    expect(await outcomeOf(f, await tokens.gitlab({ project_id: ['20'] }), 'one')).toEqual([401, 'claim_mismatch'])
  })
})

test.each<[string, WorkloadIdentityOptions, string]>([
  ['none', { issuers: [] }, 'issuers must not be empty'],
  ['an unknown platform', { issuers: [{ platform: 'jenkins' as never }] }, 'must be one of github, gitlab'],
  ['no name', { issuers: [{ platform: 'kubernetes' }] }, 'issuers[0].issuer is required'],
  [
    'a cluster twice',
    { issuers: [0, 1].map(() => ({ platform: 'kubernetes' as const, issuer: cluster })) },
    'nothing would distinguish the tokens of both',
  ],
  [
    'two sources of keys',
    { issuers: [{ platform: 'github', jwks: { keys: [keys.github.jwk] }, jwksUri: `${github}/x` }] },
    'has both jwks and jwksUri',
  ],
  [
    'a cluster in the local network',
    { issuers: [{ platform: 'kubernetes', issuer: 'https://kubernetes.default.svc' }] },
    'issuers[0].issuer must have the name of a public host',
  ],
  ['http', { issuers: [{ platform: 'gitlab', issuer: 'http://gitlab.example.com' }] }, 'must use https'],
  ['a trust domain without keys', { issuers: [{ platform: 'spiffe', issuer: trustDomain }] }, 'needs jwks or jwksUri'],
  [
    'a trust domain with a path',
    { issuers: [{ platform: 'spiffe', issuer: `${trustDomain}/x`, jwksUri: 'https://a.example.com' }] },
    'must be spiffe:// and a trust domain',
  ],
  [
    'a bundle without keys for JWTs',
    {
      issuers: [
        { platform: 'spiffe', issuer: trustDomain, jwks: { keys: [{ ...keys.spiffe.jwk, use: 'x509-svid' }] } },
      ],
    },
    '"use": "jwt-svid"',
  ],
  [
    'its own audience',
    { issuers: [{ platform: 'kubernetes', issuer: cluster, audience: cluster }] },
    'must not be the issuer itself',
  ],
  ['this provider', { issuers: [{ platform: 'other', issuer }] }, 'must not contain this provider'],
  ['an HMAC', { issuers: [{ platform: 'github', algorithms: ['HS256' as never] }] }, 'must be one of ES256'],
  ['a mistyped option', { issuers: [{ platform: 'github', singleuse: false } as never] }, 'did you mean singleUse?'],
])('%s is refused at start as issuer', async (_, options, problem) => {
  await expect(setUp(options, { clients: [] })).rejects.toThrow(problem)
})
