import { describe, expect, test } from 'vitest'
import { createResourceServer, memoryReplayStore } from '../../packages/resource-server/src/index.ts'
import { accepted, createBound, presenting, refusalOf } from '../resource-server/bound.ts'
import {
  audience,
  bearing,
  createApi,
  createIssuer,
  issuer,
  keyNamed,
  sign,
  start,
  url,
} from '../resource-server/issuer.ts'

// DPoP: RFC 9449 sections 4.3 and 7.

describe('a bound token with a proof', () => {
  test.each(['ES256', 'PS256', 'EdDSA', 'Ed25519'])('of %s is accepted', async (alg) => {
    const { send, prove, client } = await createBound({}, { alg })
    expect(accepted(await send(await prove())).claims.cnf).toEqual({ jkt: client.thumbprint })
  })

  test.each(['ES384', 'ES512', 'RS256'])('of %s is accepted if the options allow it', async (alg) => {
    const { send, prove } = await createBound({ dpop: { baseUrl: audience, algorithms: [alg] } }, { alg })
    accepted(await send(await prove()))
    const ofAnyAlgorithm = await createBound({}, { alg })
    expect(refusalOf(await ofAnyAlgorithm.send(await ofAnyAlgorithm.prove()))[2]).toBe('proof_algorithm_not_allowed')
  })

  test.each([
    ['is 60 seconds old', { iat: start - 60 }],
    ['is 10 seconds ahead', { iat: start + 10 }],
    ['has a query and a fragment', { htu: `${url}?a=1#b` }],
    ['has the default port', { htu: 'https://api.example:443/orders' }],
    ['has the host in capitals', { htu: 'HTTPS://API.example/orders' }],
    ['has another form of the path', { htu: 'https://api.example/x/../%6Frders' }],
  ])('is accepted if the proof %s', async (_, claims) => {
    const { send, prove } = await createBound()
    accepted(await send(await prove(claims)))
  })

  test('is accepted for a URL with a query and escapes', async () => {
    const { send, prove } = await createBound()
    accepted(await send(await prove({ htu: `${audience}/a%2fb` }), { to: `${audience}/a%2Fb?x=%2f` }))
  })

  test('is checked against the public URL, not the one that a proxy sends', async () => {
    const { send, prove } = await createBound({ dpop: { baseUrl: 'https://public.example/v1/' } })
    const to = 'http://10.0.0.7:8080/orders'
    accepted(await send(await prove({ htu: 'https://public.example/v1/orders' }), { to }))
    expect(refusalOf(await send(await prove({ htu: to }), { to }))[2]).toBe('htu_mismatch')
  })

  test('of section 7.1 of RFC 9449 is accepted', async () => {
    const proof =
      'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA'
    const t = await createIssuer()
    t.now = 1_562_262_618
    const cnf = { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' }
    t.responses.set(`${issuer}/introspect`, () =>
      Response.json({ active: true, token_type: 'DPoP', aud: audience, cnf }),
    )
    const introspection = { clientId: 'a', clientSecret: 'b' }
    const api = createResourceServer({ ...t.options, introspection, dpop: { baseUrl: 'https://resource.example.org' } })
    const token = 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU'
    accepted(await api.authorize(presenting(token, proof, 'DPoP', 'https://resource.example.org/protectedresource')))
  })
})

describe('challenges', () => {
  test('name both schemes', async () => {
    const { api } = await createBound({ realm: 'orders' })
    const { response } = await api.authorize(new Request(url), { scopes: 'read' })
    expect(response?.headers.get('www-authenticate')).toBe(
      'Bearer realm="orders", scope="read", DPoP realm="orders", scope="read", algs="ES256 PS256 EdDSA Ed25519"',
    )
  })

  test('contain the error at the scheme of the request', async () => {
    const { send, prove } = await createBound()
    const { response } = await send(await prove({ htm: 'POST' }))
    expect(response?.headers.get('www-authenticate')).toBe(
      'Bearer scope="read", DPoP error="invalid_dpop_proof", error_description="The DPoP proof is not valid", scope="read", algs="ES256 PS256 EdDSA Ed25519"',
    )
  })

  test('name only DPoP if it is required', async () => {
    const { api } = await createBound({ requiredBinding: 'dpop' })
    const plain = await sign(await keyNamed('one'))
    const refused = await api.authorize(bearing(plain))
    expect(refusalOf(refused)).toEqual([401, 'invalid_token', 'binding_missing'])
    expect(refused.response?.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_token"/u)
  })
})

test('an unbound token is accepted at an API with DPoP', async () => {
  const { api } = await createBound()
  accepted(await api.authorize(bearing(await sign(await keyNamed('one')))))
})

describe('nonces', () => {
  const withNonce = (nonce: true | { secret?: string; lifetime?: number } = true) =>
    createBound({ dpop: { baseUrl: audience, nonce } }, { claims: { exp: start + 3600 } })

  test('are sent to a client that uses none, and then accepted', async () => {
    const { send, prove } = await withNonce()
    const refused = await send(await prove())
    expect(refusalOf(refused)).toEqual([401, 'use_dpop_nonce', 'nonce_missing'])
    const nonce = refused.response?.headers.get('dpop-nonce')
    const { headers } = accepted(await send(await prove({ nonce })))
    expect(headers).toEqual({})
  })

  test('determine the age of a proof, not the clock of the client', async () => {
    const { send, prove } = await withNonce()
    const nonce = (await send(await prove())).response?.headers.get('dpop-nonce')
    accepted(await send(await prove({ nonce, iat: start - 86_400 })))
  })

  test('are renewed with a response, and refused when they are too old', async () => {
    const { send, prove, test: t, api, token } = await withNonce()
    const nonce = (await send(await prove())).response?.headers.get('dpop-nonce')
    // Its headers cannot be changed.
    const handler = api.protect(() => Response.redirect('https://api.example/next'))
    const renewedAt = async (time: number): Promise<string | null | undefined> => {
      t.now = time
      const response = await handler(presenting(token, await prove({ nonce })))
      return response.status === 302 ? response.headers.get('dpop-nonce') : undefined
    }
    expect(await renewedAt(start + 299)).toBeNull()
    const renewed = await renewedAt(start + 300)
    expect(renewed).toMatch(/^[\w-]{43}$/u)
    expect(renewed).not.toBe(nonce)
    expect(await renewedAt(start + 599)).toBe(renewed)
    t.now = start + 600
    expect(refusalOf(await send(await prove({ nonce })))).toEqual([401, 'use_dpop_nonce', 'nonce_invalid'])
  })

  test.each([
    ['of another process', true, false],
    ['of a process with the same secret', { secret: 's'.repeat(32) }, true],
  ] as const)('%s are accepted: %j %s', async (_, nonce, isAccepted) => {
    const [first, second] = [await withNonce(nonce), await withNonce(nonce)]
    const sent = (await first.send(await first.prove())).response?.headers.get('dpop-nonce')
    const outcome = await second.send(await second.prove({ nonce: sent }))
    expect(outcome.reason).toBe(isAccepted ? undefined : 'nonce_invalid')
    if (!isAccepted) expect(outcome.response?.headers.get('dpop-nonce')).not.toBe(sent)
  })
})

describe('the replay store', () => {
  test('receives an id of fixed length, and until when it is needed', async () => {
    const calls: [string, number][] = []
    const replayStore = { insert: async (id: string, until: number) => calls.push([id, until]) === 1 }
    const { send, prove } = await createBound({ dpop: { baseUrl: audience, replayStore } })
    const proof = await prove({ iat: start - 10.5, jti: 'x'.repeat(256) })
    accepted(await send(proof))
    expect((await send(proof)).reason).toBe('replayed')
    expect(calls[0]).toEqual([expect.stringMatching(/^[\w-]{43}$/u), start + 110])
    expect(calls[1]).toEqual(calls[0])
  })

  test('in memory forgets what has expired', () => {
    let now = 100
    const store = memoryReplayStore(() => now)
    expect([store.insert('a', 110), store.insert('a', 110), store.insert('b', 120)]).toEqual([true, false, true])
    now = 110
    expect([store.insert('a', 130), store.insert('b', 120)]).toEqual([true, false])
  })
})

test.each<[string, object, RegExp]>([
  ['no base URL', {}, /dpop\.baseUrl must be a URL/u],
  ['a base URL with a query', { baseUrl: `${audience}?a` }, /dpop\.baseUrl must have no query/u],
  ['a symmetric algorithm', { baseUrl: audience, algorithms: ['HS256'] }, /dpop\.algorithms must be some of/u],
  ['proofs that live for hours', { baseUrl: audience, maxAge: 3600 }, /dpop\.maxAge must be/u],
  ['a short secret', { baseUrl: audience, nonce: { secret: 'short' } }, /secret must have 32/u],
  ['a mistyped option', { baseUrl: audience, store: {} }, /dpop has no member store/u],
])('%s is an error at start', async (_, dpop, message) => {
  await expect(createApi({ dpop: dpop as { baseUrl: string } })).rejects.toThrow(message)
})

test('a binding that the API cannot check cannot be required', async () => {
  await expect(createApi({ requiredBinding: 'dpop' })).rejects.toThrow(/requires the option dpop/u)
  await expect(createApi({ requiredBinding: 'certificate' })).rejects.toThrow(/requires the option/u)
  await expect(createApi({ requiredBinding: 'tls' as 'any' })).rejects.toThrow(/must be dpop, certificate or any/u)
})
