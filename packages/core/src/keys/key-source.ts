import type { JWK } from 'jose'
import type { SigningAlgorithm } from '../runtime.ts'
import type { ExternalKey } from './external-key.ts'
import type { StoredKeys } from './stored-keys.ts'

/**
 * A key that is generated at startup. Its tokens become invalid when the process ends: for tests and demonstrations.
 */
export interface GeneratedKeys {
  readonly generate: SigningAlgorithm
}

/**
 * The source of the signing keys. In an array, the first private key of each algorithm signs, and the first of all is
 * the default. The others are published and verify: next keys, and retired (public) keys.
 */
export type KeySource = GeneratedKeys | StoredKeys | readonly (JWK | ExternalKey)[]

/**
 * Generates a signing key at startup.
 *
 * @param options.algorithm default: `ES256`
 */
export const signingKeys = (options: { readonly algorithm?: SigningAlgorithm } = {}): GeneratedKeys => ({
  generate: options.algorithm ?? 'ES256',
})
