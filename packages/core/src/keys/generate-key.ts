// By its parts: the whole of it is 40 modules, which every start of a server would read.
import type { JWK } from 'jose'
import { exportJWK } from 'jose/key/export'
import { generateKeyPair } from 'jose/key/generate/keypair'
import { algorithms, type SigningAlgorithm } from '../runtime.ts'
import { isSigningAlgorithm } from './algorithm.ts'

/**
 * A new private key.
 * @throws TypeError with a sentence when there is no such algorithm.
 */
export async function generateKey(algorithm: SigningAlgorithm): Promise<JWK> {
  if (!isSigningAlgorithm(algorithm)) {
    throw new TypeError(`keys: ${String(algorithm)} is no signing algorithm; known are ${algorithms.join(', ')}`)
  }
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: algorithm }
}
