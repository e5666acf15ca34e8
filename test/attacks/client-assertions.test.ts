/**
 * Attacks on client assertions (RFC 7523 section 3, RFC 8725): a stolen assertion is presented again, or to another
 * server; the public key of a client serves as the secret of an HMAC; an assertion is signed with the key of another
 * client; an assertion without a signature; floods of assertions that fill the storage or reveal which clients exist.
 */

import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestClock, mapDriver } from '@grantry/testing'
import { exportJWK, exportSPKI, importJWK } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import {
  claims,
  client,
  createKey,
  issuer,
  key,
  lastReason,
  now,
  otherKey,
  outcomeOf,
  present,
  setUp,
  sign,
} from '../client-assertion/assertions.ts'
import { withLatency } from '../support/latency.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('replay', () => {
  test('of 200 concurrent requests with one assertion, one succeeds', async () => {
    const f = await setUp({}, undefined, { storage: withLatency(memoryDriver()) })
    const jwt = await sign(claims())
    const responses = await Promise.all(Array.from({ length: 200 }, () => present(f, jwt)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(199)
  })

  test('in another process is rejected', async () => {
    const storage = mapDriver()
    const [first, second] = [await setUp({}, undefined, { storage }), await setUp({}, undefined, { storage })]
    const jwt = await sign(claims())
    expect(await outcomeOf(first, jwt)).toEqual([200, undefined])
    expect(await outcomeOf(second, jwt)).toEqual([401, 'replayed'])
  })

  test('with another header or signature is rejected: the jti counts', async () => {
    const f = await setUp()
    const payload = claims()
    expect(await outcomeOf(f, await sign(payload))).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign(payload, key.privateKey, { typ: 'JWT' }))).toEqual([401, 'replayed'])
  })

  test.each([0, 10])('until the last moment at which it is valid, with a tolerance of %i s', async (clockTolerance) => {
    const clock = createTestClock(now)
    const storage = mapDriver(new Map(), clock.now)
    const f = await setUp({ clockTolerance }, undefined, { storage, runtime: { now: clock.now } })
    const jwt = await sign({ ...claims(), exp: now + 60 })
    expect(await outcomeOf(f, jwt)).toEqual([200, undefined])
    clock.advance(59 + clockTolerance)
    expect(await outcomeOf(f, jwt)).toEqual([401, 'replayed'])
    clock.advance(1)
    expect(await outcomeOf(f, jwt)).toEqual([401, 'expired'])
  })

  test('does not spend the jti of another client', async () => {
    const f = await setUp()
    expect(await outcomeOf(f, await sign({ ...claims(), jti: 'same' }))).toEqual([200, undefined])
    const jwt = await sign({ ...claims('other'), jti: 'same' }, otherKey.privateKey)
    expect(await outcomeOf(f, jwt)).toEqual([200, undefined])
  })

  test('at another server is rejected', async () => {
    const f = await setUp()
    for (const aud of ['https://other.example.com', [issuer, 'https://other.example.com'], `${issuer}.evil.example`]) {
      expect(await outcomeOf(f, await sign({ ...claims(), aud }))).toEqual([401, 'aud_invalid'])
    }
  })
})

describe('confusion of algorithms', () => {
  test.each([
    ['the JWK', async () => JSON.stringify(key.jwk)],
    ['the coordinate', async () => String(key.jwk.x)],
    ['the PEM', async () => exportSPKI((await importJWK(key.jwk, 'ES256', { extractable: true })) as CryptoKey)],
  ])('an HMAC with %s of the public key as secret is rejected', async (_, secretOf) => {
    const secret = new TextEncoder().encode(await secretOf())
    for (const settings of [{}, { secretOf: () => undefined }]) {
      const f = await setUp(settings)
      const jwt = await sign(claims(), secret, { alg: 'HS256' })
      expect(await outcomeOf(f, jwt)).toEqual([401, 'algorithm_not_allowed'])
    }
  })

  test('an assertion without a signature is rejected', async () => {
    const f = await setUp()
    for (const alg of ['none', 'None', 'NONE', '']) {
      const unsigned = `${encode({ alg })}.${encode(claims())}.`
      expect(await outcomeOf(f, unsigned)).toEqual([401, 'malformed'])
      expect(await outcomeOf(f, `${unsigned}AAAA`)).toEqual([401, 'algorithm_not_allowed'])
    }
  })

  test('a key in the header is ignored', async () => {
    const evil = await createKey()
    const jwt = await sign(claims(), evil.privateKey, { jwk: evil.jwk, jku: 'https://evil.example/jwks' })
    expect(await outcomeOf(await setUp(), jwt)).toEqual([401, 'signature_mismatch'])
  })

  test('a weaker algorithm than that of the client is rejected', async () => {
    const rsa = await createKey('PS256')
    const jwks = { keys: [rsa.jwk] }
    const asPs = await sign(claims(), rsa.privateKey, { alg: 'PS256' })
    const sameKey = (await importJWK(await exportJWK(rsa.privateKey), 'RS256')) as CryptoKey
    const asRs = () => sign(claims(), sameKey, { alg: 'RS256' })
    const pinned = await setUp({}, [client({ jwks, tokenEndpointAuthSigningAlg: 'PS256' })])
    expect(await outcomeOf(pinned, asPs)).toEqual([200, undefined])
    expect(await outcomeOf(pinned, await asRs())).toEqual([401, 'algorithm_not_allowed'])
    const byKey = await setUp({}, [client({ jwks: { keys: [{ ...rsa.jwk, alg: 'PS256' }] } })])
    expect(await outcomeOf(byKey, await asRs())).toEqual([401, 'key_unknown'])
    const byPlugin = await setUp({ algorithms: ['PS256'] }, [client({ jwks })])
    expect(await outcomeOf(byPlugin, await asRs())).toEqual([401, 'algorithm_not_allowed'])
  })
})

describe('the key of another client', () => {
  test('is rejected, whatever the assertion names', async () => {
    const f = await setUp()
    expect(await outcomeOf(f, await sign(claims(), otherKey.privateKey))).toEqual([401, 'signature_mismatch'])
    const named = { ...claims('other'), sub: 'service' }
    expect((await outcomeOf(f, await sign(named, otherKey.privateKey)))[0]).toBe(401)
    const subject = { ...claims(), sub: 'other' }
    expect(await outcomeOf(f, await sign(subject, otherKey.privateKey))).toEqual([401, 'iss_invalid'])
  })

  test('of a disabled or a public client is rejected', async () => {
    const f = await setUp({}, [client({ enabled: false }), client({ clientId: 'spa', public: true, grantTypes: [] })])
    expect(await outcomeOf(f, await sign(claims()))).toEqual([401, 'client_disabled'])
    expect(await outcomeOf(f, await sign(claims('spa')))).toEqual([401, 'keys_unavailable'])
  })
})

describe('a caller without a key', () => {
  test('cannot fill the storage', async () => {
    const items = new Map<string, string>()
    const f = await setUp({}, undefined, { storage: mapDriver(items) })
    const before = items.size
    const evil = await createKey()
    for (const payload of [claims(), claims('absent'), { ...claims(), aud: 'x' }, { ...claims(), exp: now + 1e9 }]) {
      await outcomeOf(f, await sign(payload, payload.sub === 'absent' ? key.privateKey : evil.privateKey))
    }
    for (const more of [{ aud: 'x' }, { exp: now + 1e9 }, { jti: 'x'.repeat(300) }]) {
      await outcomeOf(f, await sign({ ...claims(), ...more }))
    }
    expect(items.size).toBe(before)
  })

  test('gets the same 401 for every assertion that is too long, without parsing it', async () => {
    const f = await setUp()
    for (const jwt of ['x'.repeat(8193), await sign({ ...claims(), extra: 'x'.repeat(8000) })]) {
      expect(await outcomeOf(f, jwt)).toEqual([401, 'too_long'])
    }
    const deep = `${encode({ alg: 'ES256' })}.${Buffer.from('['.repeat(3000)).toString('base64url')}.AAAA`
    expect(await outcomeOf(f, deep)).toEqual([401, 'malformed'])
  })

  test('does not learn from the response which clients exist', async () => {
    const f = await setUp()
    const evil = await createKey()
    const unknown = await present(f, await sign(claims('absent'), evil.privateKey))
    expect(lastReason(f)).toBe('client_unknown')
    const known = await present(f, await sign(claims(), evil.privateKey))
    expect(lastReason(f)).toBe('plugin:client-assertion:signature_mismatch')
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body])
    expect(Object.fromEntries(unknown.headers)).toEqual(Object.fromEntries(known.headers))
  })
})

test.each(['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'])(
  'the signature of an unknown client is verified, with %s',
  async (alg) => {
    const f = await setUp()
    const evil = await createKey(alg)
    const verifications = vi.spyOn(crypto.subtle, 'verify')
    expect(await outcomeOf(f, await sign(claims('absent'), evil.privateKey, { alg }))).toEqual([401, 'client_unknown'])
    expect(verifications).toHaveBeenCalledTimes(1)
    verifications.mockRestore()
  },
)

// Otherwise the time would reveal which clients exist: a client without a key for the header would cost no signature.
test.each([
  ['another algorithm', 'PS256', {}],
  ['an unknown key', 'ES256', { kid: 'unknown' }],
])('one signature is verified for a known and for an unknown client, with %s', async (_, alg, header) => {
  const f = await setUp({}, [client({ jwks: { keys: [{ ...key.jwk, kid: 'k1' }] } })])
  const evil = await createKey(alg)
  for (const id of ['absent', 'service']) {
    const verifications = vi.spyOn(crypto.subtle, 'verify')
    expect((await outcomeOf(f, await sign(claims(id), evil.privateKey, { alg, ...header })))[0]).toBe(401)
    expect([id, verifications.mock.calls.length]).toEqual([id, 1])
    verifications.mockRestore()
  }
})

test('no event contains an assertion', async () => {
  const f = await setUp()
  const jwts = [await sign(claims()), await sign(claims(), otherKey.privateKey), await sign({ ...claims(), aud: 'x' })]
  for (const jwt of jwts) await present(f, jwt)
  const text = JSON.stringify(f.events)
  for (const jwt of jwts) for (const part of jwt.split('.').slice(1)) expect(text).not.toContain(part)
})
