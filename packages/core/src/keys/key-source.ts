import type { JWK } from 'jose'
import type { SigningAlgorithm } from '../runtime.ts'
import type { ExternalKey } from './external-key.ts'
import type { StoredKeys } from './stored-keys.ts'

/** Asks for a key to be generated at start. Tokens then die with the process: for tests and demonstrations. */
export interface GeneratedKeys {
  readonly generate: SigningAlgorithm
}

/**
 * Where the signing keys come from. Of an array, the first private key of each algorithm signs, the very first one where no algorithm is asked for;
 * the others are published and verify: the next key, and retired ones (public).
 */
export type KeySource = GeneratedKeys | StoredKeys | readonly (JWK | ExternalKey)[]

/**
 * Keys that are generated at start.
 * @param options.algorithm default `ES256`
 */
export const signingKeys = (options: { readonly algorithm?: SigningAlgorithm } = {}): GeneratedKeys => ({
  generate: options.algorithm ?? 'ES256',
})
