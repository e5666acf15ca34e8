import { generateKeyPairSync } from 'node:crypto'
import { createProvider, type ProviderOptions, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import type { JWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { rsaKey } from '../support/keys.ts'

type Keys = ProviderOptions['keys']

const start = (keys: unknown) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: keys as Keys,
    storage: mapDriver(),
    clients: [],
    plugins: [],
  })

const ec = (namedCurve: string): JWK => generateKeyPairSync('ec', { namedCurve }).privateKey.export({ format: 'jwk' })
const rsa = (modulusLength: number): JWK =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ format: 'jwk' })

const publicOf = ({ kty, crv, x, y }: JWK): JWK => ({ kty, crv, x, y }) as JWK

const key = ec('P-256')
const second = ec('P-256')
const known = 'ES256, RS256, PS256, EdDSA'

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'] as const

async function messageFor(keys: unknown): Promise<string> {
  const error: unknown = await start(keys).then(
    () => expect.fail('it started'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TypeError)
  const shown = `${(error as Error).message}\n${(error as Error).stack}\n${JSON.stringify((error as Error).cause)}`
  for (const jwk of Array.isArray(keys) ? (keys as JWK[]) : []) {
    for (const member of privateMembers) {
      // An operator may paste an error message into a ticket, so it must not contain the key.
      if (jwk?.[member] !== undefined) expect(shown).not.toContain(jwk[member])
    }
  }
  return (error as Error).message
}

describe('signing keys', () => {
  test.each([
    ['an empty list', []],
    ['an empty object', {}],
    ['a JWK Set instead of its list', { keys: [key] }],
    ['one JWK instead of a list', key],
  ])('rejects %s', async (_what, keys) => {
    expect(await messageFor(keys)).toBe(
      'keys must be storedKeys(), signingKeys() or a non-empty array of JWKs, of which the first one signs',
    )
  })

  test.each([[null], ['{"kty":"EC"}'], [5]])('rejects %j, which is not a JWK', async (jwk) => {
    expect(await messageFor([jwk])).toBe('keys[0] must be a JWK')
  })

  // A shared secret is never published and cannot be verified by others; it would also enable `alg: HS256` confusion.
  test.each([
    ['oct', { kty: 'oct', k: 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0', alg: 'HS256' }, 'kty oct, alg HS256'],
    ['of the algorithm none', { ...key, alg: 'none' }, 'kty EC, crv P-256, alg none'],
    ['of an algorithm that is not its own', { ...key, alg: 'RS256' }, 'kty EC, crv P-256, alg RS256'],
    ['of an algorithm that is not supported', { ...key, alg: 'ES384' }, 'kty EC, crv P-256, alg ES384'],
  ])('rejects a key %s', async (_what, jwk, has) => {
    expect(await messageFor([jwk])).toBe(`keys[0] must be a key for ${known}; it has ${has}`)
  })

  test.each([
    ['an oct key', { kty: 'oct', k: 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0' }],
    ['a curve that is not supported', ec('P-384')],
    ['an empty JWK', {}],
  ])('rejects %s without alg, and the message contains no undefined', async (_what, jwk) => {
    const message = await messageFor([jwk])
    expect(message).toMatch(/^keys\[0\] must be a key for ES256, RS256, PS256, EdDSA/u)
    expect(message).not.toContain('undefined')
  })

  test('rejects a public key as the first', async () => {
    expect(await messageFor([publicOf(key), second])).toBe('keys[0] must be a private key, because it signs')
  })

  test('accepts a public key as the second: it verifies earlier signatures', async () => {
    await expect(start([key, publicOf(second)])).resolves.toBeDefined()
  })

  // jose refuses to sign with these. If the first token revealed that, every request would be a 500.
  test.each([1024, 2040, 2047])('rejects an RSA key of %i bits', async (bits) => {
    expect(await messageFor([rsa(bits)])).toBe('keys[0] is an RSA key with fewer than 2048 bits; use a larger one')
  })

  test('leading zeros of an RSA modulus do not count', async () => {
    const small = rsa(1024)
    const padded = Buffer.concat([Buffer.alloc(128), Buffer.from(small.n ?? '', 'base64url')]).toString('base64url')
    expect(await messageFor([{ ...small, n: padded }])).toBe(
      'keys[0] is an RSA key with fewer than 2048 bits; use a larger one',
    )
  })

  test('accepts an RSA key of 2048 bits', async () => {
    await expect(start([rsaKey()])).resolves.toBeDefined()
  })

  test('rejects two keys with the same kid', async () => {
    const keys = [
      { ...key, kid: '2030-01' },
      { ...second, kid: '2030-01' },
    ]
    expect(await messageFor(keys)).toBe('keys: two keys have the kid 2030-01')
  })

  test('rejects a duplicate key, also without a kid', async () => {
    expect(await messageFor([key, key])).toMatch(/^keys: two keys have the kid [\w-]{43}$/u)
  })

  // RFC 7517 section 4.5: a case-sensitive string. Verifiers cannot compare any other type.
  test.each([[5], [''], [{}]])('rejects the kid %j', async (kid) => {
    expect(await messageFor([{ ...key, kid }])).toMatch(/^keys\[0\].* kid/u)
  })

  test.each([
    ['that is not base64url', { kty: 'EC', crv: 'P-256', x: key.x, y: '!!', d: key.d }],
    ['without its public part', { kty: 'EC', crv: 'P-256', d: key.d }],
    ['whose private part belongs to another key', { ...key, d: second.d }],
    ['that is truncated', { ...key, d: key.d?.slice(0, 20) }],
  ])('rejects a key %s', async (_what, jwk) => {
    expect(await messageFor([jwk])).toBe('keys[0] cannot be imported; is it a complete ES256 key?')
  })

  test('the error names the position of a bad key', async () => {
    expect(await messageFor([key, { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }])).toMatch(
      /^keys\[1\] must be a key for /u,
    )
  })

  test.each(['HS256', 'none', 'ES384', ''])('signingKeys() rejects the algorithm %j', async (algorithm) => {
    expect(await messageFor(signingKeys({ algorithm: algorithm as 'ES256' }))).toBe(
      `keys: ${algorithm} is not a supported algorithm; use one of ${known}`,
    )
  })
})
