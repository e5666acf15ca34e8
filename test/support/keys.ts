import { readFileSync } from 'node:fs'
import type { SigningAlgorithm } from '@grantry/core'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { afterEach, beforeEach, vi } from 'vitest'

// Private keys for tests only, which everyone can read. Generating an RSA key takes longer than most tests.
const rsaKeys: readonly JWK[] = JSON.parse(readFileSync(new URL('./rsa-keys.json', import.meta.url), 'utf8'))

/** Returns one of eight fixed private RSA keys. */
export const rsaKey = (index = 0): JWK => ({ ...rsaKeys[index % rsaKeys.length] }) as JWK

/** Returns a private key for this algorithm: a new one, or for RSA the fixed one with this index. */
export async function privateKeyFor(algorithm: SigningAlgorithm, index = 0): Promise<JWK> {
  if (algorithm === 'RS256' || algorithm === 'PS256') return { ...rsaKey(index), alg: algorithm }
  return { ...(await exportJWK((await generateKeyPair(algorithm, { extractable: true })).privateKey)), alg: algorithm }
}

/** Returns the public members of a private key. */
export function publicPartOf({ d: _, p: _1, q: _2, dp: _3, dq: _4, qi: _5, ...jwk }: JWK): JWK {
  return jwk
}

/** In the tests of this file, RSA keys that a provider generates are the fixed ones, one after the other. */
export function generateFixedRsaKeys(): void {
  beforeEach(() => {
    const { subtle } = crypto
    const generate = subtle.generateKey.bind(subtle) as (...args: unknown[]) => Promise<CryptoKeyPair>
    let next = 0
    async function fixed(algorithm: RsaHashedImportParams, ...more: unknown[]): Promise<CryptoKeyPair> {
      if (!algorithm.name.startsWith('RSA')) return generate(algorithm, ...more)
      const jwk = rsaKey(next) as JsonWebKey
      next += 1
      const { name, hash } = algorithm
      return {
        privateKey: await subtle.importKey('jwk', jwk, { name, hash }, true, ['sign']),
        publicKey: await subtle.importKey('jwk', publicPartOf(jwk as JWK) as JsonWebKey, { name, hash }, true, [
          'verify',
        ]),
      }
    }
    vi.spyOn(subtle, 'generateKey').mockImplementation(fixed as never)
  })
  afterEach(() => void vi.restoreAllMocks())
}
