// Imports single modules of jose: the main entry would load 40 modules at every startup.
import type { JWK } from 'jose'
import { exportJWK } from 'jose/key/export'
import { generateKeyPair } from 'jose/key/generate/keypair'
import { algorithms, isSigningAlgorithm, type SigningAlgorithm } from '../runtime.ts'

/**
 * Generates a private key.
 *
 * @throws TypeError when the algorithm is unknown.
 */
export async function generateKey(algorithm: SigningAlgorithm): Promise<JWK> {
  if (!isSigningAlgorithm(algorithm)) {
    throw new TypeError(`keys: ${String(algorithm)} is not a supported algorithm; use one of ${algorithms.join(', ')}`)
  }
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: algorithm }
}
