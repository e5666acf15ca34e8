/**
 * Attack: a thief has an access token that is bound to a key, and proofs that the client has sent to an API, but not the
 * key. Or a client sends proofs that a careless API would accept.
 *
 * RFC 9449 section 4.3 lists what must be checked; section 11 describes the attacks.
 */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createResourceServer, memoryReplayStore } from '../../packages/resource-server/src/index.ts'
import { holder } from '../dpop/parties.ts'
import { accepted, createBound, presenting, refusalOf } from '../resource-server/bound.ts'
import { audience, bearing, createApi, issuer, keyNamed, sign, start, url } from '../resource-server/issuer.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const invalid = (reason: string) => [401, 'invalid_dpop_proof', reason]

describe('an API refuses a proof', () => {
  test.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, string]>([
    ['without typ', {}, { typ: undefined }, 'proof_malformed'],
    ['of another type', {}, { typ: 'JWT' }, 'proof_malformed'],
    ['of a type that only begins with dpop+jwt', {}, { typ: 'dpop+jwt+x' }, 'proof_malformed'],
    ['without jwk', {}, { jwk: undefined }, 'proof_malformed'],
    ['without jti', { jti: undefined }, {}, 'proof_malformed'],
    ['with an empty jti', { jti: '' }, {}, 'proof_malformed'],
    ['with a jti that is too long', { jti: 'x'.repeat(257) }, {}, 'proof_malformed'],
    ['with a jti that is not text', { jti: 7 }, {}, 'proof_malformed'],
    ['without htm', { htm: undefined }, {}, 'proof_malformed'],
    ['without htu', { htu: undefined }, {}, 'proof_malformed'],
    ['without iat', { iat: undefined }, {}, 'proof_malformed'],
    ['with an iat that is text', { iat: String(start) }, {}, 'proof_malformed'],
    ['of another method', { htm: 'POST' }, {}, 'htm_mismatch'],
    ['of the method in lower case', { htm: 'get' }, {}, 'htm_mismatch'],
    ['of another path', { htu: `${audience}/order` }, {}, 'htu_mismatch'],
    ['of a longer path', { htu: `${url}/` }, {}, 'htu_mismatch'],
    ['of another host', { htu: 'https://evil.example/orders' }, {}, 'htu_mismatch'],
    ['of another port', { htu: 'https://api.example:8443/orders' }, {}, 'htu_mismatch'],
    ['of http', { htu: 'http://api.example/orders' }, {}, 'htu_mismatch'],
    ['with a relative htu', { htu: '/orders' }, {}, 'htu_mismatch'],
    ['with an htu that has a user name', { htu: 'https://api.example@evil.example/orders' }, {}, 'htu_mismatch'],
    ['without ath', { ath: undefined }, {}, 'ath_mismatch'],
    ['with the ath of another token', { ath: 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo' }, {}, 'ath_mismatch'],
    ['that is 61 seconds old', { iat: start - 61 }, {}, 'proof_too_old'],
    ['of a clock that is 11 seconds ahead', { iat: start + 11 }, {}, 'proof_in_future'],
    ['that has expired', { exp: start - 10 }, {}, 'proof_too_old'],
    ['that is not valid yet', { nbf: start + 11 }, {}, 'proof_in_future'],
  ])('%s', async (_, claims, header, reason) => {
    const { send, prove } = await createBound()
    expect(refusalOf(await send(await prove(claims, header)))).toEqual(invalid(reason))
  })

  test.each<[string, (proof: string) => string]>([
    ['that is sent twice', (proof) => `${proof}, ${proof}`],
    ['with two parts', (proof) => proof.split('.').slice(0, 2).join('.')],
    ['that is empty', () => ''],
    ['that is too long', (proof) => proof + 'A'.repeat(5000)],
    ['with a header that is not JSON', (proof) => proof.replace(/^[^.]+/u, 'e30x')],
    ['with claims that are not an object', (proof) => proof.replace(/\.[^.]+\./u, `.${encode('text')}.`)],
  ])('%s', async (_, change) => {
    const { send, prove } = await createBound()
    expect(refusalOf(await send(change(await prove())))).toEqual(invalid('proof_malformed'))
  })

  test('that is not signed, or signed with a shared secret', async () => {
    const { send, prove, client } = await createBound()
    const [, payload] = (await prove()).split('.')
    const unsigned = `${encode({ typ: 'dpop+jwt', alg: 'none', jwk: client.jwk })}.${payload}.AA`
    expect(refusalOf(await send(unsigned))).toEqual(invalid('proof_algorithm_not_allowed'))
    const signed = `${encode({ typ: 'dpop+jwt', alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } })}.${payload}`
    const proof = `${signed}.${createHmac('sha256', 'AAAA').update(signed).digest('base64url')}`
    expect(refusalOf(await send(proof))).toEqual(invalid('proof_malformed'))
  })

  test('that contains the private key', async () => {
    const { send, prove, client } = await createBound()
    expect(refusalOf(await send(await prove({}, { jwk: client.privateJwk })))).toEqual(invalid('proof_malformed'))
  })

  test('with the key of the client in the header, signed by another one', async () => {
    const { send, prove, client } = await createBound()
    const proof = await prove({}, { jwk: client.jwk }, await holder())
    expect(refusalOf(await send(proof))).toEqual(invalid('proof_signature_mismatch'))
  })

  test('with a key of RSA that would take long to verify', async () => {
    const { send, prove, client } = await createBound({}, { alg: 'PS256' })
    for (const jwk of [
      { ...client.jwk, n: 'A'.repeat(2000) },
      { ...client.jwk, e: 'A'.repeat(300) },
    ]) {
      expect(refusalOf(await send(await prove({}, { jwk })))).toEqual(invalid('proof_malformed'))
    }
  })
})

describe('an API refuses a stolen access token', () => {
  test('with the key of the thief', async () => {
    const { send, prove } = await createBound()
    expect(refusalOf(await send(await prove({}, {}, await holder())))).toEqual([401, 'invalid_token', 'wrong_key'])
  })

  test('without a proof', async () => {
    const { send } = await createBound()
    expect(refusalOf(await send(undefined))).toEqual(invalid('proof_missing'))
  })

  test('as a bearer token, with and without a proof, at an API with and without DPoP', async () => {
    const { send, prove, token } = await createBound()
    const refused = [401, 'invalid_token', 'scheme_mismatch']
    expect(refusalOf(await send(undefined, { scheme: 'Bearer' }))).toEqual(refused)
    expect(refusalOf(await send(await prove(), { scheme: 'Bearer' }))).toEqual(refused)
    const { api } = await createApi()
    expect(refusalOf(await api.authorize(bearing(token)))).toEqual(refused)
    expect((await api.authorize(bearing(token, 'DPoP'))).reason).toBe('binding_not_supported')
  })

  test('with a proof that the client has used', async () => {
    const { send, prove } = await createBound()
    const proof = await prove()
    accepted(await send(proof))
    expect(refusalOf(await send(proof))).toEqual(invalid('replayed'))
  })

  test('with a proof that the client has used at another resource server of the process', async () => {
    const { send, prove, token, test: t } = await createBound()
    const proof = await prove()
    accepted(await send(proof))
    const otherServer = createResourceServer({ ...t.options, dpop: { baseUrl: audience } })
    expect(refusalOf(await otherServer.authorize(presenting(token, proof)))).toEqual(invalid('replayed'))
    const separateStore = { baseUrl: audience, replayStore: memoryReplayStore(() => t.now) }
    accepted(await createResourceServer({ ...t.options, dpop: separateStore }).authorize(presenting(token, proof)))
  })

  test('with a used proof at the last moment at which a new one is accepted', async () => {
    const { send, prove, test: t } = await createBound()
    const proof = await prove({ iat: start + 10 })
    accepted(await send(proof))
    t.now = start + 70
    expect(refusalOf(await send(proof))).toEqual(invalid('replayed'))
    accepted(await send(await prove({ iat: start + 10 })))
  })

  test('with a proof for another API, by its host name', async () => {
    const { send, prove } = await createBound()
    const to = 'https://other.example/orders'
    expect(refusalOf(await send(await prove({ htu: to }), { to }))).toEqual(invalid('htu_mismatch'))
  })
})

test('an unbound token with the scheme DPoP is refused, with and without a proof', async () => {
  const { api, client } = await createBound()
  const token = await sign(await keyNamed('one'))
  const request = new Request(url, { headers: { authorization: `DPoP ${token}`, dpop: await client.prove() } })
  expect((await api.authorize(request)).reason).toBe('scheme_mismatch')
  expect((await api.authorize(bearing(token, 'DPoP'))).reason).toBe('scheme_mismatch')
})

test.each([
  ['an unknown member', { kid: 'x' }],
  ['a known and an unknown member', { jkt: 'x', new: 'y' }],
  ['no member', {}],
  ['a thumbprint that is not text', { jkt: 7 }],
  ['an empty thumbprint', { jkt: '' }],
  ['a list', ['jkt']],
  ['text', 'jkt'],
  ['null', null],
])('a token whose cnf has %s is refused', async (_, cnf) => {
  const { api } = await createBound()
  const token = await sign(await keyNamed('one'), { cnf })
  expect((await api.authorize(bearing(token))).reason).toBe('binding_unknown')
  expect((await api.authorize(bearing(token, 'DPoP'))).reason).toBe('binding_unknown')
})

test('a token that the issuer calls bound, without its key, is refused', async () => {
  const { test: t } = await createApi()
  t.responses.set(`${issuer}/introspect`, () => Response.json({ active: true, aud: audience, token_type: 'DPoP' }))
  const introspection = { clientId: 'a', clientSecret: 'b' }
  const api = createResourceServer({ ...t.options, introspection, dpop: { baseUrl: audience } })
  for (const scheme of ['Bearer', 'DPoP']) {
    expect((await api.authorize(bearing('abc', scheme))).reason).toBe('binding_unknown')
  }
})

test('a client cannot use up the proof of another one by sending its jti first', async () => {
  const { api, send, prove, test: t } = await createBound()
  const otherClient = await holder('ES256', () => t.now)
  const token = await sign(await keyNamed('one'), { cnf: { jkt: otherClient.thumbprint } })
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  const proof = await otherClient.prove({ htm: 'GET', htu: url, ath: hash.toString('base64url'), jti: 'same' })
  accepted(await api.authorize(presenting(token, proof)))
  accepted(await send(await prove({ jti: 'same' })))
})

test.each([
  ['without a nonce', undefined, start + 60],
  // The generation of the nonce begins at `start`.
  ['with a nonce', { secret: 's'.repeat(32) }, start + 599],
])('a proof %s is not accepted again by a process whose clock is a minute behind', async (_, nonce, last) => {
  let time = start
  const replayStore = memoryReplayStore(() => time)
  const open = () => createBound({ dpop: { baseUrl: audience, replayStore, nonce } }, { claims: { exp: start + 3600 } })
  const [first, second] = [await open(), await open()]
  const sent = (await first.send(await first.prove())).response?.headers.get('dpop-nonce') ?? undefined
  const proof = await first.prove({ nonce: sent })
  accepted(await first.send(proof))
  second.test.now = last
  time = last + 59
  const request = presenting(first.token, proof)
  expect((await second.api.authorize(request)).reason).toBe('replayed')
  second.test.now += 1
  expect((await second.api.authorize(request)).reason).toBeOneOf(['proof_too_old', 'nonce_invalid'])
})

test('of 200 concurrent requests with one proof, an API accepts one', async () => {
  const { send, prove } = await createBound()
  const proof = await prove()
  const outcomes = await Promise.all(Array.from({ length: 200 }, () => send(proof)))
  expect(outcomes.filter(({ token }) => token !== undefined)).toHaveLength(1)
  expect(outcomes.filter(({ reason }) => reason === 'replayed')).toHaveLength(199)
})

test('requests that are refused write nothing to the replay store', async () => {
  const ids: string[] = []
  const replayStore = { insert: (id: string) => ids.push(id) > 0 }
  const { send, prove } = await createBound({ dpop: { baseUrl: audience, replayStore } })
  const [header, payload] = (await prove()).split('.')
  await send(await prove({ htm: 'POST' }))
  await send(await prove({}, {}, await holder()))
  await send(`${header}.${payload}.${'A'.repeat(86)}`)
  await send(await prove(), { scopes: 'delete' })
  expect(ids).toEqual([])
  accepted(await send(await prove()))
  expect(ids).toHaveLength(1)
})

test.each<[string, () => never | Promise<boolean> | boolean]>([
  ['throws', () => expect.fail('down')],
  ['rejects', () => Promise.reject(new Error('down'))],
  ['hangs', () => new Promise(() => {})],
  ['returns something other than a boolean', () => 'OK' as never],
])('no proof is accepted while the replay store %s', async (_, insert) => {
  const { send, prove } = await createBound({ timeout: 0.05, dpop: { baseUrl: audience, replayStore: { insert } } })
  expect((await send(await prove())).response?.status).toBeOneOf([401, 503])
})
