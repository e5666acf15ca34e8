/**
 * Attack: a client publishes keys whose verification costs much time, in great number and without ids, so that each request
 * in its name, which needs no credentials, occupies the process: 58 RSA keys of 3,072 bits with exponents of 3,072 bits took
 * 380 ms. Fifty keys that cannot be imported, because they are no points of their curve, took 8 ms in each request.
 */
import { randomBytes } from 'node:crypto'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { createResourceServer } from '@grantry/resource-server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { claims, client, createKey, issuer, key, outcomeOf, setUp, sign } from '../client-assertion/assertions.ts'
import { rsaKey } from '../support/keys.ts'
import { keys } from '../support/published-host.ts'
import { keySets } from '../support/published-values.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'

/** An odd number of so many bits. */
function odd(bits: number): string {
  const bytes = randomBytes(bits / 8)
  bytes[0] = (bytes[0] ?? 0) | 0x80
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1
  return bytes.toString('base64url')
}

const costly = (bits = 3072) => ({ kty: 'RSA', n: odd(bits), e: odd(bits) })
const sane = (index: number) => {
  const { kty = 'RSA', n, e } = rsaKey(index)
  return { kty, n, e }
}
const signingKey = await createKey('RS256')
const jwksUri = 'https://service.example.com/jwks'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Sends an assertion that no key has signed. Returns the outcome, and how many signatures were verified for it. */
async function costOf(keys: readonly object[]) {
  const f = await setUp({ jwksUri: { fetch: async () => Response.json({ keys }) } }, [
    client({ jwks: undefined, jwksUri }),
  ])
  const assertion = await sign(claims(), signingKey.privateKey, { alg: 'RS256' })
  const verify = vi.spyOn(crypto.subtle, 'verify')
  const outcome = await outcomeOf(f, assertion)
  return { outcome, verified: verify.mock.calls.length }
}

describe('the keys of a client', () => {
  test('with great exponents are ignored: one signature is verified, that of the decoy', async () => {
    const keys = Array.from({ length: 40 }, () => costly())
    expect(await costOf(keys)).toEqual({ outcome: [401, 'key_unknown'], verified: 1 })
  })

  test('are not tried if more than two fit', async () => {
    const keys = Array.from({ length: 8 }, (_, index) => sane(index))
    expect(await costOf(keys)).toEqual({ outcome: [401, 'key_ambiguous'], verified: 1 })
    vi.restoreAllMocks()
    expect(await costOf(keys.slice(0, 2))).toEqual({ outcome: [401, 'signature_mismatch'], verified: 2 })
  })

  test('that cannot be imported are tried once, and not for each request', async () => {
    const keys = Array.from({ length: 50 }, () => ({ kty: 'EC', crv: 'P-256', x: odd(256), y: odd(256) }))
    const f = await setUp({ jwksUri: { fetch: async () => Response.json({ keys }) } }, [
      client({ jwks: undefined, jwksUri }),
    ])
    expect(await outcomeOf(f, await sign(claims()))).toEqual([401, 'key_unknown'])
    const imports = vi.spyOn(crypto.subtle, 'importKey')
    expect(await outcomeOf(f, await sign(claims()))).toEqual([401, 'key_unknown'])
    expect(await outcomeOf(f, await sign(claims(), key.privateKey, { kid: 'unknown' }))).toEqual([401, 'key_unknown'])
    expect(imports).not.toHaveBeenCalled()
  })

  test('are not more than fifty', async () => {
    const keys = Array.from({ length: 51 }, () => signingKey.jwk)
    expect(await costOf(keys)).toEqual({ outcome: [401, 'keys_unavailable'], verified: 1 })
  })

  test.each([
    ['an exponent of 3,072 bits', { ...sane(0), e: odd(3072) }, 'keys[0] must have an exponent of at most 32 bits'],
    ['an exponent of 40 bits', { ...sane(0), e: odd(40) }, 'keys[0] must have an exponent of at most 32 bits'],
    ['8,192 bits', { ...sane(0), n: odd(8192) }, 'keys[0] must have 2048 to 4096 bits'],
    ['great coordinates', { kty: 'EC', crv: 'P-256', x: 'A'.repeat(5000), y: 'A' }, 'keys[0] must have coordinates'],
  ])('in the configuration cannot have %s, nor those of an issuer', async (_, jwk, message) => {
    await expect(setUp({}, [client({ jwks: { keys: [jwk] } })])).rejects.toThrow(message)
    const trusted = { issuer: 'https://other.example.com', jwks: { keys: [jwk] } }
    expect(() => tokenExchange({ issuers: [trusted] } as never)).toThrow(message)
  })

  test('with 4,096 bits and the exponent 65,537 are accepted', async () => {
    await expect(
      setUp({}, [client({ jwks: { keys: [{ kty: 'RSA', n: odd(4096), e: 'AQAB' }] } })]),
    ).resolves.toBeDefined()
  })
})

test('the keys of an issuer are bounded at an API, too', async () => {
  const keys = [...Array.from({ length: 40 }, () => costly()), ...Array.from({ length: 8 }, (_, index) => sane(index))]
  const api = createResourceServer({
    issuer,
    audience: 'https://api.example.com',
    jwt: { jwksUri: 'https://id.example.com/jwks' },
    fetch: async () => Response.json({ keys }),
    now: () => 1_800_000_000,
  })
  const token = await sign(claims(), signingKey.privateKey, { alg: 'RS256', typ: 'at+jwt' })
  const verify = vi.spyOn(crypto.subtle, 'verify')
  const request = new Request('https://api.example.com/', { headers: { authorization: `Bearer ${token}` } })
  expect((await api.authorize(request)).reason).toBe('key_unknown')
  expect(verify).not.toHaveBeenCalled()
})

test('keys of an issuer that cannot be imported are tried once at an API, too', async () => {
  const keys = Array.from({ length: 50 }, () => ({ kty: 'EC', crv: 'P-256', x: odd(256), y: odd(256) }))
  const api = createResourceServer({
    issuer,
    audience: 'https://api.example.com',
    jwt: { jwksUri: 'https://id.example.com/jwks' },
    fetch: async () => Response.json({ keys }),
    now: () => 1_800_000_000,
  })
  const token = await sign(claims(), key.privateKey, { typ: 'at+jwt' })
  const request = () => new Request('https://api.example.com/', { headers: { authorization: `Bearer ${token}` } })
  expect((await api.authorize(request())).reason).toBe('key_unknown')
  const imports = vi.spyOn(crypto.subtle, 'importKey')
  expect((await api.authorize(request())).reason).toBe('key_unknown')
  expect(imports).not.toHaveBeenCalled()
})

/** Of a party that names no ids. */
const [firstKey, secondKey, thirdKey] = [
  await createIssuerKey(undefined, 'RS256'),
  await createIssuerKey(undefined, 'RS256'),
  await createIssuerKey(undefined, 'RS256'),
]
const unusable: readonly unknown[] = [
  null,
  7,
  {},
  { kty: 'new' },
  { kty: 'oct', k: 'secret' },
  { kty: 'RSA', n: 'AQAB', e: 'AQAB' },
  { kty: 'RSA', n: odd(1024), e: 'AQAB' },
  { kty: 'RSA', n: odd(8192), e: 'AQAB' },
  { kty: 'RSA', n: odd(2048) },
  { ...sane(2), d: odd(2048) },
  costly(),
  { kty: 'EC', crv: 'P-256' },
  { kty: 'EC', crv: 'P-256', x: 'A'.repeat(5000), y: 'A' },
]

describe.each(keySets)('%s', (_name, open) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('that cannot be used do not count', async () => {
    const place = await open()
    place.publish(...unusable, firstKey.jwk, secondKey.jwk)
    expect(await place.accepts(firstKey)).toBe(true)
    expect(await place.accepts(secondKey)).toBe(true)
  })

  test('are not tried if three fit', async () => {
    const place = await open()
    place.publish(firstKey.jwk, secondKey.jwk, thirdKey.jwk)
    expect(await place.accepts(firstKey)).toBe(false)
  })

  test('that contain a private part are not used', async () => {
    const place = await open()
    place.publish({ ...keys.first.jwk, d: odd(2048) })
    expect(await place.accepts(keys.first)).toBe(false)
  })
})
