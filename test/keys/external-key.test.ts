// An external signing key: tested at start, and when it fails later the response is 503, never 500 and never a token
// that cannot be verified.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto'
import type { ExternalKey, SigningAlgorithm } from '@grantry/core'
import { createLocalJWKSet, type JWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { fixture, redirectUri, webJwt } from '../support/fixture.ts'
import { rsaKey } from '../support/keys.ts'
import { published, tokenOf } from './shared-ring.ts'

function rsaPair(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const privateKey = createPrivateKey({ key: rsaKey() as JsonWebKey, format: 'jwk' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

const pairs = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: rsaPair,
  PS256: rsaPair,
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const

function signature(algorithm: SigningAlgorithm, key: KeyObject, data: Uint8Array, der = false): Uint8Array {
  if (algorithm === 'EdDSA') return sign(null, data, key)
  if (algorithm === 'ES256') return sign('sha256', data, { key, dsaEncoding: der ? 'der' : 'ieee-p1363' })
  return sign('sha256', data, algorithm === 'PS256' ? { key, padding: 6, saltLength: 32 } : key)
}

interface Service extends ExternalKey {
  /** What the service does from now on instead of signing. */
  fault: (() => Promise<Uint8Array>) | undefined
}

function service(algorithm: SigningAlgorithm = 'ES256', more: Partial<ExternalKey> = {}): Service {
  const { publicKey, privateKey } = pairs[algorithm]()
  return {
    fault: undefined,
    publicKey: { ...(publicKey.export({ format: 'jwk' }) as JWK), alg: algorithm },
    async sign(data) {
      return this.fault === undefined ? signature(algorithm, privateKey, data) : this.fault()
    },
    ...more,
  }
}

const known = { currentDate: new Date(1_800_000_000_000) }

describe('an external key', () => {
  test.each(['ES256', 'RS256', 'PS256', 'EdDSA'] as const)(
    'signs tokens by %s that verify with the published key',
    async (algorithm) => {
      const f = await fixture({ keys: [service(algorithm)] })
      const token = await tokenOf(f)
      const keys = [...(await published(f))] as JWK[]
      expect(keys.map(({ alg }) => alg)).toEqual([algorithm])
      await jwtVerify(token, createLocalJWKSet({ keys }), known)
      expect((await f.post('accessTokenValidation', { token })).status).toBe(200)
    },
  )

  test('and a JWK beside it: each signs for its algorithm', async () => {
    const f = await fixture({ keys: [service(), rsaKey()] })
    expect(f.provider.metadata.id_token_signing_alg_values_supported).toEqual(['ES256', 'RS256'])
  })

  test('that returns its private part with the public one does not publish it', async () => {
    const { privateKey } = pairs.ES256()
    const jwk = privateKey.export({ format: 'jwk' }) as JWK
    const f = await fixture({
      keys: [{ publicKey: jwk, sign: async (data: Uint8Array) => signature('ES256', privateKey, data) }],
    })
    expect(JSON.stringify(await published(f))).not.toContain(jwk.d)
  })
})

describe('rejected at start, with one message', () => {
  const otherKey = pairs.ES256()
  test.each([
    ['a signature in DER', (key: KeyObject) => async (data: Uint8Array) => signature('ES256', key, data, true)],
    ['a signature of another key', () => async (data: Uint8Array) => signature('ES256', otherKey.privateKey, data)],
    ['no bytes', () => async () => 'signature' as never],
    ['an empty signature', () => async () => new Uint8Array()],
    ['an unreachable service', () => async () => Promise.reject(new Error('no route to the service'))],
    [
      'a service that throws',
      () => () => {
        throw new Error('no route')
      },
    ],
  ])('%s', async (_what, make) => {
    const { publicKey, privateKey } = pairs.ES256()
    const key = { publicKey: publicKey.export({ format: 'jwk' }) as JWK, sign: make(privateKey) as ExternalKey['sign'] }
    const error: Error = await fixture({ keys: [key] }).then(
      () => expect.fail('it started'),
      (thrown) => thrown,
    )
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(
      /^keys\[0\]: sign\(\) must return a ES256 signature that matches publicKey, in JWS form \(not DER\): ./u,
    )
    expect(error.message).not.toContain('\n')
  })

  test.each([
    ['without a public key', { sign: async () => new Uint8Array(64) }, 'keys[0] has sign() but no publicKey'],
    [
      'with a symmetric one',
      { sign: async () => new Uint8Array(64), publicKey: { kty: 'oct', k: 'c2VjcmV0' } },
      'keys[0] must be a key for',
    ],
  ])('a key %s', async (_what, key, message) => {
    await expect(fixture({ keys: [key as ExternalKey] })).rejects.toThrow(message)
  })

  test('a service that does not respond', async () => {
    const hanging = service('ES256', { sign: () => new Promise(() => {}), timeLimit: 0.05 })
    await expect(fixture({ keys: [hanging] })).rejects.toThrow('keys.sign() did not respond within 0.05 s')
  })
})

describe('a service that fails later', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('quota exceeded for key 7')
      },
    ],
    ['rejects', () => Promise.reject(new Error('quota exceeded for key 7'))],
    ['hangs', () => new Promise<Uint8Array>(() => {})],
    ['returns no bytes', async () => null as never],
    ['signs something else', async () => signature('ES256', pairs.ES256().privateKey, new Uint8Array(8))],
    ['returns bytes that are not a signature', async () => new Uint8Array(3)],
  ])('and %s: 503 with Retry-After, a reason for the operator, and no detail for the caller', async (_what, fault) => {
    const key = service('ES256', { timeLimit: 0.05 })
    const f = await fixture({ keys: [key] })
    key.fault = fault
    const response = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, webJwt)
    expect([response.status, response.body.error, response.headers.get('retry-after')]).toEqual([
      503,
      'temporarily_unavailable',
      '1',
    ])
    expect(JSON.stringify(response.body)).not.toContain('quota')
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'unhandled_failure', reason: 'signer_failed' }))
    key.fault = undefined
    expect(await tokenOf(f)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/u)
  })

  test('does not spend the code: the same request works when the service is back', async () => {
    const key = service()
    const f = await fixture({ keys: [key] })
    const code = await f.code({ clientId: webJwt[0] })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    key.fault = () => Promise.reject(new Error('away'))
    expect((await f.post('token', form, webJwt)).status).toBe(503)
    key.fault = undefined
    expect((await f.post('token', form, webJwt)).status).toBe(200)
  })
})
