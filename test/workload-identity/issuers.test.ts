import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { issuersByUrl, json, startIssuers } from './issuer-hosts.ts'
import { cluster, createKey, github, outcomeOf, present, setUp, tokens } from './parties.ts'

const platforms = Object.keys(tokens) as readonly (keyof typeof tokens)[]

let hosts: Awaited<ReturnType<typeof startIssuers>>
beforeEach(async () => {
  hosts = await startIssuers()
})
afterEach(() => hosts.close())

const start = (more: object = {}) =>
  setUp({ issuers: issuersByUrl, jwksUri: { fetch: hosts.fetch, cooldown: 30, ...more } })

test.each(platforms)(
  '2.21 the keys of %s are fetched once, by its discovery document or its bundle',
  async (platform) => {
    const f = await start()
    for (let time = 0; time < 3; time += 1) {
      expect(await outcomeOf(f, await tokens[platform](), platform)).toEqual([200, undefined])
    }
    expect(hosts.requested).toHaveLength(platform === 'spiffe' ? 1 : 2)
  },
)

test('2.21 the keys of a bundle for certificates verify no token', async () => {
  const rsa = await tokens.spiffe({}, (await import('./parties.ts')).keys.github, { alg: 'RS256' })
  expect((await outcomeOf(await start(), rsa, 'spiffe'))[0]).toBe(401)
})

describe('2.22 an issuer whose keys cannot be fetched', () => {
  const configuration = `${github}/.well-known/openid-configuration`
  const jwks = `${github}/.well-known/jwks`
  test.each<
    [
      string,
      string,
      Parameters<
        ReturnType<typeof startIssuers> extends Promise<infer H extends { pages: Map<string, unknown> }>
          ? H['pages']['set']
          : never
      >[1],
    ]
  >([
    ['is down', configuration, json({}, 503)],
    [
      'has the document of another issuer',
      configuration,
      json({ issuer: cluster, jwks_uri: `${cluster}/openid/v1/jwks` }),
    ],
    ['names no keys', configuration, json({ issuer: github })],
    ['names keys in the local network', configuration, json({ issuer: github, jwks_uri: 'https://10.0.0.1/jwks' })],
    ['names keys without TLS', configuration, json({ issuer: github, jwks_uri: 'http://example.com/jwks' })],
    ['redirects', jwks, (response) => response.writeHead(302, { location: `${cluster}/openid/v1/jwks` }).end()],
    ['sends no JSON', jwks, (response) => response.end('<html>')],
    ['sends too much', jwks, (response) => response.end(`{"keys":[],"x":"${'x'.repeat(70_000)}"}`)],
  ])('%s: 503, for a known and an unknown client, and the others work', async (_, url, respond) => {
    hosts.pages.set(url, respond as never)
    const f = await start()
    for (const clientId of ['github', 'absent']) {
      expect(await outcomeOf(f, await tokens.github(), clientId)).toEqual([503, 'keys_unavailable'])
    }
    expect(await outcomeOf(f, await tokens.cluster(), 'cluster')).toEqual([200, undefined])
    expect(hosts.requested.filter((requested) => requested === url)).toHaveLength(1)
  })

  test('and does not respond: 503 after the time limit', async () => {
    hosts.pages.set(jwks, () => {})
    const f = await start({ timeout: 0.2 })
    const response = await present(f, await tokens.github(), 'github')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
  })

  test('is tried again after the cooldown', async () => {
    const keys = hosts.pages.get(jwks)
    hosts.pages.delete(jwks)
    const f = await start()
    expect((await outcomeOf(f, await tokens.github(), 'github'))[0]).toBe(503)
    if (keys !== undefined) hosts.pages.set(jwks, keys)
    f.clock.advance(31)
    expect((await outcomeOf(f, await tokens.github(), 'github'))[0]).toBe(200)
  })
})

test('an issuer that rotates its keys is asked again', async () => {
  const f = await start()
  expect((await outcomeOf(f, await tokens.cluster(), 'cluster'))[0]).toBe(200)
  const next = await createKey('RS256', { kid: 'cluster-2' })
  hosts.pages.set(`${cluster}/openid/v1/jwks`, json({ keys: [next.jwk] }))
  f.clock.advance(31)
  expect((await outcomeOf(f, await tokens.cluster({}, next, { kid: 'cluster-2' }), 'cluster'))[0]).toBe(200)
  expect(await outcomeOf(f, await tokens.cluster(), 'cluster')).toEqual([401, 'key_unknown'])
})

test('of two issuers, only the one that allows it has addresses of the local network', async () => {
  const local = 'https://kubernetes.default.svc'
  const issuers = [
    { platform: 'kubernetes' as const, issuer: local, allowPrivateAddresses: true },
    { platform: 'github' as const },
  ]
  hosts.pages.set(
    `${local}/.well-known/openid-configuration`,
    json({ issuer: local, jwks_uri: 'https://10.96.0.1/jwks' }),
  )
  hosts.pages.set('https://10.96.0.1/jwks', hosts.pages.get(`${cluster}/openid/v1/jwks`) ?? json({}))
  hosts.pages.set(
    `${github}/.well-known/openid-configuration`,
    json({ issuer: github, jwks_uri: 'https://10.96.0.1/jwks' }),
  )
  const f = await setUp(
    { issuers, jwksUri: { fetch: hosts.fetch } },
    {
      clients: [
        ['local', { issuer: local, subject: 'system:serviceaccount:payments:worker' }],
        ['github', { issuer: github, claims: { repository_id: '2002' } }],
      ].map(([clientId, workload]) => ({
        clientId,
        workload,
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
      })) as never,
    },
  )
  expect(await outcomeOf(f, await tokens.cluster({ iss: local }), 'local')).toEqual([200, undefined])
  expect(await outcomeOf(f, await tokens.github(), 'github')).toEqual([503, 'keys_unavailable'])
})
