import { OAuthError } from '../errors/oauth-error.ts'
import type { SigningAlgorithm } from '../runtime.ts'
import type { RingKey } from './key-ring.ts'

/** @throws OAuthError `server_error` when no key has the algorithm, which a client from a client store requires. */
export function signerOf(signers: ReadonlyMap<SigningAlgorithm, RingKey>, algorithm: SigningAlgorithm): RingKey {
  const key = signers.get(algorithm)
  if (key !== undefined) return key
  throw new OAuthError('server_error', 'The request failed', {
    reason: 'signing_key_missing',
    cause: new Error(`No key uses ${String(algorithm)}; add it to the algorithms of keys`),
  })
}
