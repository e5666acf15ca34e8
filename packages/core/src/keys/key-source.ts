import type { JWK } from 'jose'
import { parseConfiguration } from '../config-schema.ts'
import type { SigningAlgorithm } from '../runtime.ts'
import type { ExternalKey } from './external-key.ts'
import { generateKey } from './import-key.ts'
import type { KeyRing } from './key-ring.ts'
import { type CheckedStoredKeys, type StoredKeysOptions, storedKeysSchema } from './stored-keys-options.ts'
import { openStoredRing, type StoredRingDeps } from './stored-ring.ts'

/**
 * A key that is generated at startup. Its tokens become invalid when the process ends: for tests and demonstrations.
 */
export interface GeneratedKeys {
  /** Generates the private key. A function here keeps its code out of bundles that use other keys. */
  generate(): Promise<JWK>
}

/** The result of `storedKeys()`. */
export interface StoredKeys {
  readonly stored: CheckedStoredKeys
  /** Opens the ring. A function here keeps the key ring out of bundles that use fixed keys. */
  open(deps: Omit<StoredRingDeps, 'options'>): Promise<KeyRing>
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
export const signingKeys = (options: { readonly algorithm?: SigningAlgorithm | undefined } = {}): GeneratedKeys => ({
  generate: () => generateKey(options.algorithm ?? 'ES256'),
})

/**
 * Keeps the signing keys in the storage. They are created once, shared by all processes with the same storage, and
 * rotated automatically.
 *
 * @throws TypeError with one sentence when an option is wrong.
 * @example
 * const keys = storedKeys({ algorithms: ['ES256', 'RS256'], encryptionSecret: process.env.GRANTRY_KEY_SECRET })
 */
export function storedKeys(options: StoredKeysOptions = {}): StoredKeys {
  const stored = parseConfiguration(storedKeysSchema, options, 'storedKeys()')
  return { stored, open: (deps) => openStoredRing({ ...deps, options: stored }) }
}
