/**
 * Attacks on workload identity: CI systems and clusters give a signed token to any caller on them, so the claims decide. A
 * token of another repository, namespace, cluster or trust domain; of an owner that took over a name; for another service;
 * used again; huge. A caller that wants to know which clients exist.
 */
import { mapDriver } from '@grantry/testing'
import { describe, expect, test, vi } from 'vitest'
import {
  client,
  clients,
  github,
  issuer,
  now,
  outcomeOf,
  present,
  rules,
  setUp,
  tokens,
  trustDomain,
} from '../workload-identity/parties.ts'

describe('a token of another workload gets nothing', () => {
  test.each([
    [
      'another repository',
      'github',
      { sub: 'repo:evil@9/deploy@9:ref:refs/heads/main', repository_id: '9', repository: 'evil/deploy' },
    ],
    [
      'a repository that took over the name',
      'github',
      { sub: 'repo:acme/deploy:ref:refs/heads/main', repository_id: '9', repository_owner_id: '9' },
    ],
    ['an id as a longer text', 'github', { repository_id: '20020' }],
    ['an id in a list', 'github', { repository_id: ['2002'] }],
    ['another branch', 'github', { ref: 'refs/heads/evil' }],
    ['a branch with the name of a ref', 'github', { ref: 'refs/heads/refs/heads/main' }],
    ['a pull request', 'github', { ref: 'refs/pull/7/merge', event_name: 'pull_request' }],
    ['another project', 'gitlab', { project_id: '21' }],
    ['a tag with the name of the branch', 'gitlab', { ref_type: 'tag', ref_path: 'refs/tags/main' }],
    ['a branch that is not protected', 'gitlab', { ref_protected: 'false' }],
    ['another namespace', 'cluster', { sub: 'system:serviceaccount:evil:worker' }],
    ['a namespace of a longer name', 'cluster', { sub: 'system:serviceaccount:payments:worker:x' }],
    ['another service account', 'cluster', { sub: 'system:serviceaccount:payments:default' }],
    ['a user', 'cluster', { sub: 'payments:worker' }],
    ['another service', 'spiffe', { sub: `${trustDomain}/ns/evil/sa/worker` }],
    ['a path that leads to it', 'spiffe', { sub: `${trustDomain}/ns/evil/../payments/sa/worker` }],
    ['an empty segment', 'spiffe', { sub: `${trustDomain}/ns//payments/sa/worker` }],
    ['a trust domain in capitals', 'spiffe', { sub: 'spiffe://PROD.example.com/ns/payments/sa/worker' }],
    ['a port', 'spiffe', { sub: 'spiffe://prod.example.com:443/ns/payments/sa/worker' }],
    ['a query', 'spiffe', { sub: `${trustDomain}/ns/payments/sa/worker?x` }],
  ] as const)('%s', async (_, platform, claims) => {
    expect((await outcomeOf(await setUp(), await tokens[platform](claims), platform))[0]).toBe(401)
  })
})

test('a wildcard ends where the name of another owner could begin', async () => {
  const rule = { ...rules.github, claims: { repository_owner_id: '1001', repository: 'acme/*' } }
  const f = await setUp({}, { clients: [client('one', rule)] })
  expect((await outcomeOf(f, await tokens.github(), 'one'))[0]).toBe(200)
  for (const repository of ['acme-evil/deploy', 'acme/', 'acme', 'evil/acme/deploy']) {
    expect(await outcomeOf(f, await tokens.github({ repository }), 'one')).toEqual([401, 'claim_mismatch'])
  }
})

test.each([
  ['another service', 'https://other.example.com'],
  ['this one and another', [issuer, 'https://other.example.com']],
  ['the token endpoint', `${issuer}/connect/token`],
  ['none', []],
  ['a longer name', `${issuer}.evil.example`],
  ['the default of GitHub', 'https://github.com/acme'],
])('a token for %s is refused', async (_, aud) => {
  expect(await outcomeOf(await setUp(), await tokens.github({ aud }), 'github')).toEqual([401, 'aud_invalid'])
})

describe('time', () => {
  test.each([
    ['no end', 'cluster', { exp: undefined }, 'exp_invalid'],
    ['an end in the past', 'github', { exp: now - 11 }, 'expired'],
    ['an end after a year', 'cluster', { exp: now + 31_536_000 }, 'exp_too_late'],
    ['a year of life, and the last hour of it', 'cluster', { iat: now - 31_000_000 }, 'iat_too_early'],
    ['a beginning in the future', 'github', { nbf: now + 60 }, 'nbf_invalid'],
    ['an issue in the future', 'github', { iat: now + 60 }, 'iat_invalid'],
    ['an end that is no number', 'github', { exp: 'never' }, 'exp_invalid'],
  ] as const)('a token with %s is refused', async (_, platform, claims, reason) => {
    expect(await outcomeOf(await setUp(), await tokens[platform](claims), platform)).toEqual([401, reason])
  })
})

describe('replay', () => {
  test('a token of a CI system authenticates once, also for another client and in another process', async () => {
    const storage = mapDriver()
    const all = [...clients, client('second', rules.github)]
    const [f, otherProcess] = [await setUp({}, { storage, clients: all }), await setUp({}, { storage, clients: all })]
    const jwt = await tokens.github()
    expect(await outcomeOf(f, jwt, 'github')).toEqual([200, undefined])
    expect(await outcomeOf(f, jwt, 'second')).toEqual([401, 'replayed'])
    expect(await outcomeOf(otherProcess, jwt, 'github')).toEqual([401, 'replayed'])
    expect(await outcomeOf(f, await tokens.github({ jti: undefined }), 'github')).toEqual([401, 'jti_missing'])
  })

  test('a token of a cluster authenticates again and again until it ends, because pods send it so', async () => {
    const f = await setUp()
    const jwt = await tokens.cluster()
    for (let time = 0; time < 3; time += 1) expect((await outcomeOf(f, jwt, 'cluster'))[0]).toBe(200)
    f.clock.advance(3611)
    expect(await outcomeOf(f, jwt, 'cluster')).toEqual([401, 'expired'])
  })

  test('a caller whose token matches no rule stores nothing', async () => {
    const items = new Map<string, string>()
    const f = await setUp({}, { storage: mapDriver(items) })
    const before = items.size
    for (const clientId of ['github', 'gitlab', 'absent']) {
      expect((await outcomeOf(f, await tokens.github({ repository_id: '9' }), clientId))[0]).toBe(401)
    }
    expect(items.size).toBe(before)
  })
})

describe('size', () => {
  test.each([
    ['a token of 8 KB', { x: 'x'.repeat(8000) }, 'too_long'],
    ['deep claims', { x: JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`) }, 'claim_mismatch'],
    ['a long subject', { sub: 'x'.repeat(2049) }, 'sub_invalid'],
    ['a subject that is no text', { sub: { repo: 1 } }, 'sub_invalid'],
    ['a long jti', { jti: 'x'.repeat(257) }, 'jti_invalid'],
    ['an issuer that is no text', { iss: [github] }, 'issuer_unknown'],
  ])('%s is refused', async (_, claims, reason) => {
    const jwt = await tokens.github({ repository_id: '9', ...claims })
    expect(await outcomeOf(await setUp(), jwt, 'github')).toEqual([401, reason])
  })
})

describe('a caller who wants to know which clients exist', () => {
  test('gets the same response for an unknown client, a wrong rule, another platform and a client with a secret', async () => {
    const secret = {
      clientId: 'secret',
      secrets: [{ sha256: 'K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=' }],
      grantTypes: [],
    }
    const f = await setUp({}, { clients: [...clients, secret] })
    const jwt = await tokens.github({ repository_id: '9' })
    const responses = []
    for (const clientId of [
      'github',
      'gitlab',
      'secret',
      'absent',
      'https://absent.example.com/client',
      'a'.repeat(101),
    ]) {
      const { status, headers, body } = await present(f, jwt, clientId)
      responses.push(JSON.stringify([status, headers.get('www-authenticate'), headers.get('retry-after'), body]))
    }
    expect(new Set(responses).size).toBe(1)
  })

  test('causes one verification for a known and for an unknown client', async () => {
    const f = await setUp()
    const verify = vi.spyOn(crypto.subtle, 'verify')
    try {
      const counts = []
      for (const clientId of ['github', 'gitlab', 'absent']) {
        verify.mockClear()
        await outcomeOf(f, await tokens.github({ repository_id: '9' }), clientId)
        counts.push(verify.mock.calls.length)
      }
      expect(counts).toEqual([1, 1, 1])
    } finally {
      verify.mockRestore()
    }
  })
})

test('a public client is not authenticated by a token', async () => {
  const f = await setUp({}, { clients: [client('spa', rules.cluster, { public: true, grantTypes: [] })] })
  expect((await outcomeOf(f, await tokens.cluster(), 'spa'))[0]).toBe(401)
})

test('the token is in no event', async () => {
  const f = await setUp()
  const jwt = await tokens.github({ repository_id: '9' })
  await outcomeOf(f, jwt, 'github')
  await outcomeOf(f, await tokens.github(), 'github')
  expect(JSON.stringify(f.events)).not.toContain(jwt.split('.')[1])
})
