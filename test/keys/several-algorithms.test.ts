// Several algorithms: the first signs, unless a client needs another for its identity tokens.
import { createHash } from 'node:crypto'
import type { SigningAlgorithm } from '@grantry/core'
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, redirectUri, webJwt } from '../support/fixture.ts'
import { generateFixedRsaKeys, privateKeyFor } from '../support/keys.ts'
import { inState, kidsOf, published, sharedRing, tokenOf } from './shared-ring.ts'

generateFixedRsaKeys()

const all = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const

const needing = (identityTokenAlgorithm: SigningAlgorithm) =>
  clients.map((client) => (client.clientId === webJwt[0] ? { ...client, identityTokenAlgorithm } : client))

async function tokensOf(f: Fixture): Promise<{ access_token: string; id_token: string }> {
  const code = await f.code({ clientId: webJwt[0] })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return (await f.post('token', form, webJwt)).body
}

describe('a client that needs another algorithm', () => {
  test.each(all)('gets identity tokens by %s, with the matching hash, and verifies them', async (algorithm) => {
    const ring = sharedRing()
    const algorithms = [...new Set<SigningAlgorithm>(['ES256', algorithm])]
    const f = await ring.start({ algorithms }, { clients: needing(algorithm) })
    const { access_token, id_token } = await tokensOf(f)
    expect(decodeProtectedHeader(access_token).alg).toBe('ES256')
    expect(decodeProtectedHeader(id_token).alg).toBe(algorithm)
    const { payload } = await jwtVerify(id_token, createLocalJWKSet({ keys: [...(await published(f))] as JWK[] }), {
      algorithms: [algorithm],
      currentDate: new Date(ring.clock.now() * 1000),
    })
    const digest = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
      .update(access_token)
      .digest()
    expect(payload.at_hash).toBe(digest.subarray(0, digest.length / 2).toString('base64url'))
    const validated = await f.post('identityTokenValidation', { token: id_token, client_id: webJwt[0] })
    expect(validated.status).toBe(200)
  })

  test('is rejected at start if no key signs with it', async () => {
    const start = sharedRing().start({}, { clients: needing('RS256') })
    await expect(start).rejects.toThrow(
      'clients: web-jwt has identityTokenAlgorithm RS256, but no key uses it; add RS256 to the algorithms of keys',
    )
    await expect(fixture({ clients: needing('RS256') })).rejects.toThrow('but no key uses it')
  })

  test('in a client store gets a 500 without details about keys, reported to the operator', async () => {
    const byId = new Map(needing('RS256').map((client) => [client.clientId, client]))
    const f = await sharedRing().start({}, { clients: { find: (clientId) => byId.get(clientId) } })
    const code = await f.code({ clientId: webJwt[0] })
    const response = await f.post(
      'token',
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      webJwt,
    )
    expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
    expect(String(response.failure)).toContain('No key uses RS256')
  })
})

describe('a client that names no algorithm', () => {
  const algorithmsWith = async (algorithms: readonly SigningAlgorithm[]) => {
    const { access_token, id_token } = await tokensOf(await sharedRing().start({ algorithms }))
    return [access_token, id_token].map((token) => decodeProtectedHeader(token).alg)
  }

  test.each([[['ES256', 'RS256']], [['EdDSA', 'ES256', 'RS256']]] as const)(
    '9.6 gets identity tokens by RS256, with the keys %j',
    async (algorithms) => {
      expect(await algorithmsWith(algorithms)).toEqual([algorithms[0], 'RS256'])
    },
  )

  test('9.6 gets identity tokens by the first algorithm, without a key for RS256', async () => {
    expect(await algorithmsWith(['EdDSA', 'ES256'])).toEqual(['EdDSA', 'EdDSA'])
  })
})

describe('configured keys', () => {
  test('the first private key of each algorithm signs for it', async () => {
    const keys = [
      { ...(await privateKeyFor('EdDSA')), kid: 'one' },
      { ...(await privateKeyFor('RS256', 0)), kid: 'two' },
      { ...(await privateKeyFor('RS256', 1)), kid: 'three' },
    ]
    const f = await fixture({ keys, clients: needing('RS256') })
    const { access_token, id_token } = await tokensOf(f)
    expect([decodeProtectedHeader(access_token).kid, decodeProtectedHeader(id_token).kid]).toEqual(['one', 'two'])
    expect((await f.provider.keys.list()).map(({ state }) => state)).toEqual(['current', 'current', 'next'])
    expect(f.provider.metadata.id_token_signing_alg_values_supported).toEqual(['EdDSA', 'RS256'])
  })
})

describe('a changed configuration', () => {
  test('a new algorithm gets keys at start, and the others do not change', async () => {
    const ring = sharedRing()
    const before = await ring.start()
    const kids = kidsOf(await before.provider.keys.list())
    const f = await ring.start({ algorithms: ['ES256', 'RS256'] }, { clients: needing('RS256') })
    const keys = await f.provider.keys.list()
    expect(kidsOf(keys).slice(0, 2)).toEqual(kids)
    expect(keys.map(({ algorithm, state }) => `${algorithm} ${state}`)).toEqual([
      'ES256 current',
      'ES256 next',
      'RS256 current',
      'RS256 next',
    ])
    const { access_token, id_token } = await tokensOf(f)
    // The process that does not know it still verifies its tokens.
    for (const [endpoint, form] of [
      ['accessTokenValidation', { token: access_token }],
      ['identityTokenValidation', { token: id_token, client_id: webJwt[0] }],
    ] as const) {
      expect((await before.post(endpoint, form)).status).toBe(200)
    }
  })

  test('a removed one retires with the next rotation, and its tokens stay valid', async () => {
    const ring = sharedRing()
    const before = await ring.start({ algorithms: ['EdDSA'] })
    const token = await tokenOf(before)
    const f = await ring.start({ algorithms: ['ES256'] })
    const keys = await f.provider.keys.rotate({ force: true })
    expect(keys.filter(({ algorithm }) => algorithm === 'EdDSA').map(({ state }) => state)).toEqual(['retiring'])
    expect(inState(keys, 'current')).toHaveLength(1)
    expect((await f.post('accessTokenValidation', { token })).status).toBe(200)
  })

  test.each(['current', 'next'] as const)('a %s key of a removed one is retired, and not replaced', async (state) => {
    const ring = sharedRing()
    await ring.start({ algorithms: ['ES256', 'RS256'] })
    const f = await ring.start({ algorithms: ['ES256'] })
    const left = (await f.provider.keys.list()).find((key) => key.algorithm === 'RS256' && key.state === state)
    const after = await f.provider.keys.retire(left?.kid ?? '', { compromised: true })
    expect(kidsOf(after)).not.toContain(left?.kid)
    const before = state === 'current' ? [] : ['current']
    expect(after.filter(({ algorithm }) => algorithm === 'RS256').map((key) => key.state)).toEqual(before)
    expect(after.filter(({ algorithm }) => algorithm === 'ES256').map((key) => key.state)).toEqual(['current', 'next'])
  })

  test('while both are in use, the process that needs the old one creates it again', async () => {
    const ring = sharedRing()
    const old = await ring.start({ algorithms: ['EdDSA'] })
    const young = await ring.start({ algorithms: ['ES256'] })
    await young.provider.keys.rotate({ force: true })
    ring.clock.advance(6)
    expect((await young.post('accessTokenValidation', { token: await tokenOf(old) })).status).toBe(200)
    await old.provider.keys.list()
    await old.provider.close()
    const keys = await young.provider.keys.list()
    expect(keys.filter(({ state }) => state === 'current').map(({ algorithm }) => algorithm)).toContain('EdDSA')
    expect((await young.post('accessTokenValidation', { token: await tokenOf(old) })).status).toBe(200)
  })
})
