/**
 * Attack: a thief has an access token that is bound to a key, and proofs that the client has sent, but not the key. Or a
 * client sends proofs that a careless verifier would accept.
 *
 * RFC 9449 section 4.3 lists what must be checked; section 11 describes the attacks.
 */
import { createHmac } from 'node:crypto'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { holder, proveUse, request, start, tokenUrl, use, userinfoUrl } from '../dpop/parties.ts'

const now = 1_800_000_000
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = { jti: '1', htm: 'POST', htu: tokenUrl, iat: now }
const invalid = (reason: string) => [400, 'invalid_dpop_proof', `plugin:dpop:${reason}`]

describe('a proof is refused at the token endpoint', () => {
  test.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, string]>([
    ['without typ', {}, { typ: undefined }, 'malformed'],
    ['of another type', {}, { typ: 'JWT' }, 'malformed'],
    ['of a type that only begins with dpop+jwt', {}, { typ: 'dpop+jwt+x' }, 'malformed'],
    ['without jwk', {}, { jwk: undefined }, 'malformed'],
    ['without jti', { jti: undefined }, {}, 'malformed'],
    ['with an empty jti', { jti: '' }, {}, 'malformed'],
    ['with a jti that is too long', { jti: 'x'.repeat(257) }, {}, 'malformed'],
    ['with a jti that is not text', { jti: 7 }, {}, 'malformed'],
    ['without htm', { htm: undefined }, {}, 'malformed'],
    ['without htu', { htu: undefined }, {}, 'malformed'],
    ['without iat', { iat: undefined }, {}, 'malformed'],
    ['with an iat that is text', { iat: String(now) }, {}, 'malformed'],
    ['of another method', { htm: 'GET' }, {}, 'htm_mismatch'],
    ['of the method in lower case', { htm: 'post' }, {}, 'htm_mismatch'],
    ['of another path', { htu: userinfoUrl }, {}, 'htu_mismatch'],
    ['of another host', { htu: 'https://evil.example.com/connect/token' }, {}, 'htu_mismatch'],
    ['of another port', { htu: 'https://id.example.com:8443/connect/token' }, {}, 'htu_mismatch'],
    ['of http', { htu: 'http://id.example.com/connect/token' }, {}, 'htu_mismatch'],
    ['with a relative htu', { htu: '/connect/token' }, {}, 'htu_mismatch'],
    [
      'with an htu that has a user name',
      { htu: 'https://id.example.com@evil.example.com/connect/token' },
      {},
      'htu_mismatch',
    ],
    ['that is 61 seconds old', { iat: now - 61 }, {}, 'too_old'],
    ['from an hour ago', { iat: now - 3600 }, {}, 'too_old'],
    ['of a clock that is 11 seconds ahead', { iat: now + 11 }, {}, 'iat_in_future'],
    ['that has expired', { exp: now - 11 }, {}, 'signature_mismatch'],
    ['that is not valid yet', { nbf: now + 11 }, {}, 'signature_mismatch'],
  ])('%s', async (_, changed, header, reason) => {
    const [f, client] = [await start(), await holder()]
    const response = await request(f, await client.prove(changed, header))
    expect([response.status, response.body.error, response.reason]).toEqual(invalid(reason))
  })

  test.each<[string, (proof: string) => string]>([
    ['that is sent twice', (proof) => `${proof}, ${proof}`],
    ['that is sent twice without a space', (proof) => `${proof},${proof}`],
    ['with two parts', (proof) => proof.split('.').slice(0, 2).join('.')],
    ['with four parts', (proof) => `${proof}.x`],
    ['that is empty', () => ''],
    ['that is too long', (proof) => proof + 'A'.repeat(5000)],
    ['with a header that is not JSON', (proof) => proof.replace(/^[^.]+/u, 'e30x')],
    ['with claims that are not an object', (proof) => proof.replace(/\.[^.]+\./u, `.${encode('text')}.`)],
  ])('%s', async (_, change) => {
    const [f, client] = [await start(), await holder()]
    const response = await request(f, change(await client.prove()))
    expect([response.status, response.body.error, response.reason]).toEqual(invalid('malformed'))
  })

  test('15.3 that is not signed', async () => {
    const [f, client] = [await start(), await holder()]
    const header = { typ: 'dpop+jwt', alg: 'none', jwk: client.jwk }
    const response = await request(f, `${encode(header)}.${encode(claims)}.AA`)
    expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:algorithm_not_allowed'])
  })

  test('that is signed with a shared secret', async () => {
    const f = await start()
    const header = { typ: 'dpop+jwt', alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }
    const signed = `${encode(header)}.${encode(claims)}`
    const response = await request(f, `${signed}.${createHmac('sha256', 'AAAA').update(signed).digest('base64url')}`)
    expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:malformed'])
  })

  test('15.3 that contains the private key', async () => {
    const [f, client] = [await start(), await holder()]
    const response = await request(f, await client.prove({}, { jwk: client.privateJwk }))
    expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:malformed'])
    expect(JSON.stringify(f.events)).not.toContain(client.privateJwk.d)
  })

  test.each([
    ['RS256', 'algorithm_not_allowed'],
    ['ES384', 'malformed'],
  ])('15.3 with the algorithm %s', async (alg, reason) => {
    const [f, client] = [await start(), await holder(alg)]
    const response = await request(f, await client.prove())
    expect([response.status, response.reason]).toEqual([400, `plugin:dpop:${reason}`])
  })

  test.each<[string, object]>([
    ['another key', {}],
    ['a point that is not on the curve', { y: 'A'.repeat(43) }],
  ])('with %s in the header than the one that signed', async (_, more) => {
    const [f, client, another] = [await start(), await holder(), await holder()]
    const response = await request(f, await client.prove({}, { jwk: { ...another.jwk, ...more } }))
    expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:signature_mismatch'])
  })

  test('with a changed signature', async () => {
    const [f, client] = [await start(), await holder()]
    const [header, payload, signature = ''] = (await client.prove()).split('.')
    const changed = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
    const response = await request(f, `${header}.${payload}.${changed}`)
    expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:signature_mismatch'])
  })

  test('with a key of RSA that would take long to verify', async () => {
    const [f, client] = [await start(), await holder('PS256')]
    for (const jwk of [
      { ...client.jwk, n: 'A'.repeat(2000) },
      { ...client.jwk, e: 'A'.repeat(300) },
    ]) {
      const response = await request(f, await client.prove({}, { jwk }))
      expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:malformed'])
    }
  })

  test('with a key of RSA that is too short', async () => {
    const f = await start()
    const header = { typ: 'dpop+jwt', alg: 'PS256', jwk: { kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB' } }
    const response = await request(f, `${encode(header)}.${encode(claims)}.${'A'.repeat(171)}`)
    expect([response.status, response.reason]).toEqual([400, 'plugin:dpop:signature_mismatch'])
  })
})

describe('a stolen access token is refused', () => {
  const stolen = async () => {
    const [f, client] = [await start(), await holder()]
    const { body } = await request(f, await client.prove())
    return { f, client, token: String(body.access_token) }
  }

  test.each<[string, (client: Awaited<ReturnType<typeof holder>>, token: string) => Promise<string>, string]>([
    ['of another access token', (client) => proveUse(client, 'another-token'), 'plugin:dpop:ath_mismatch'],
    ['without ath', (client, token) => proveUse(client, token, { ath: undefined }), 'plugin:dpop:ath_mismatch'],
    ['for another method', (client, token) => proveUse(client, token, { htm: 'POST' }), 'plugin:dpop:htm_mismatch'],
    [
      'for the token endpoint',
      (client, token) => proveUse(client, token, { htu: tokenUrl }),
      'plugin:dpop:htu_mismatch',
    ],
  ])('15.3 with a proof %s', async (_, proofFor, reason) => {
    const { f, client, token } = await stolen()
    const response = await use(f, token, await proofFor(client, token))
    expect([response.status, response.body.error, response.reason]).toEqual([401, 'invalid_dpop_proof', reason])
    expect(response.headers.get('www-authenticate')).toMatch(/^DPoP realm="[^"]+", error="invalid_dpop_proof"/u)
  })

  test('15.6 with the key of the thief', async () => {
    const { f, token } = await stolen()
    const response = await use(f, token, await proveUse(await holder(), token))
    expect([response.status, response.body.error, response.reason]).toEqual([401, 'invalid_token', 'wrong_key'])
  })

  test('15.4 with a proof that the client has used', async () => {
    const { f, client, token } = await stolen()
    const proof = await proveUse(client, token)
    expect((await use(f, token, proof)).status).toBe(200)
    const response = await use(f, token, proof)
    expect([response.status, response.reason]).toEqual([401, 'plugin:dpop:replayed'])
  })

  test('15.6 as a bearer token, with and without a proof', async () => {
    const { f, client, token } = await stolen()
    expect((await use(f, token, undefined, 'Bearer')).reason).toBe('wrong_scheme')
    expect((await use(f, token, await proveUse(client, token), 'Bearer')).reason).toBe('wrong_scheme')
  })

  test('without a proof', async () => {
    const { f, token } = await stolen()
    expect((await use(f, token, undefined)).reason).toBe('proof_missing')
  })
})

test('a proof that is refused writes nothing to the storage', async () => {
  const keys: string[] = []
  const driver = mapDriver(new Map())
  const storage = {
    ...driver,
    insertItem: async (...args: Parameters<typeof driver.insertItem>) => {
      keys.push(args[0])
      return driver.insertItem(...args)
    },
  }
  const [f, client] = [await start({}, { storage }), await holder()]
  keys.length = 0
  await request(f, await client.prove({ htm: 'GET' }))
  const [header, payload] = (await client.prove()).split('.')
  await request(f, `${header}.${payload}.${'A'.repeat(86)}`)
  expect(keys).toEqual([])
  await request(f, await client.prove())
  expect(keys.length).toBeGreaterThan(0)
})
