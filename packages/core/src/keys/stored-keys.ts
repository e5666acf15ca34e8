import { parseConfiguration } from '../configuration.ts'
import type { KeyRing } from './key-ring.ts'
import { type CheckedStoredKeys, type StoredKeysOptions, storedKeysSchema } from './stored-keys-options.ts'
import { openStoredRing, type StoredRingDeps } from './stored-ring.ts'

/** The result of `storedKeys()`. */
export interface StoredKeys {
  readonly stored: CheckedStoredKeys
  /** Opens the ring. A function here keeps the key ring out of bundles that use fixed keys. */
  open(deps: Omit<StoredRingDeps, 'options'>): Promise<KeyRing>
}

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
