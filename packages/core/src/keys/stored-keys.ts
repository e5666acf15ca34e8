import * as v from 'valibot'
import { configurationObject, lifetimeSchema, parseConfiguration } from '../configuration.ts'
import { algorithms, type SigningAlgorithm } from '../runtime.ts'
import type { KeyRing } from './key-ring.ts'
import { thumbprintForm } from './ring-content.ts'
import { openStoredRing, type StoredRingDeps } from './stored-ring.ts'

const algorithm = v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)

/** Of the options of `storedKeys()`; a server reads the same from its configuration. */
export const storedKeysSchema = configurationObject({
  algorithms: v.optional(
    v.pipe(
      v.array(algorithm, `must be an array of ${algorithms.join(', ')}`),
      v.nonEmpty('must not be empty'),
      v.check((list) => new Set(list).size === list.length, 'must name each algorithm once'),
      v.transform((list) => list as [SigningAlgorithm, ...SigningAlgorithm[]]),
    ),
    ['ES256'],
  ),
  rotateAfter: v.optional(
    v.pipe(lifetimeSchema, v.minValue(600, 'must be at least 600 seconds: the next key is published before it signs')),
    7_776_000,
  ),
  encryptionSecret: v.exactOptional(
    v.pipe(
      v.string('must be text'),
      v.minLength(32, 'must be at least 32 characters; make one with grantry hash-secret'),
    ),
  ),
  refused: v.optional(
    v.array(
      v.pipe(
        v.string('must be the id of a key'),
        v.regex(thumbprintForm, 'must be the id of a key, as "grantry keys list" shows it'),
      ),
      'must be an array of the ids of keys',
    ),
    [],
  ),
  keepFor: v.optional(lifetimeSchema, 86_400),
  lookEvery: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.minValue(0.1, 'must be 0.1 to 30 seconds'),
      v.maxValue(30, 'must be 0.1 to 30 seconds'),
    ),
    5,
  ),
})

export interface StoredKeysOptions {
  /** What tokens are signed with; the first one unless a client asks for another. Default `['ES256']`. */
  readonly algorithms?: readonly SigningAlgorithm[]
  /** Seconds that a key signs; default 90 days, at least 600. */
  readonly rotateAfter?: number
  /**
   * At least 32 characters: the keys are then encrypted and authenticated in the store. Keys that are stored in clear are refused from then on:
   * `sealStoredKeys()` encrypts them, once.
   */
  readonly encryptionSecret?: string
  /**
   * The ids of compromised keys (`kid`). This provider never signs with one, never publishes it and never accepts a token of it, whatever the store says:
   * a restored backup does not bring it back.
   */
  readonly refused?: readonly string[]
  /**
   * Seconds that a retired key verifies, at least; default a day. The lifetimes of clients in an array count by themselves; where clients come from a
   * store, this is the longest lifetime of a token.
   */
  readonly keepFor?: number
  /** Seconds after which a process that is asked something looks whether another one has rotated the keys; default 5. */
  readonly lookEvery?: number
}

export type CheckedStoredKeys = v.InferOutput<typeof storedKeysSchema>

/** Asks for keys that are kept in the store. */
export interface StoredKeys {
  readonly stored: CheckedStoredKeys
  /** Brings the ring along: who gives keys instead, in a Worker say, does not load it. */
  open(deps: Omit<StoredRingDeps, 'options'>): Promise<KeyRing>
}

/**
 * Keys that are made once, kept in the store, shared by every process that uses it, and replaced by themselves.
 *
 * @throws TypeError with one sentence when an option is wrong.
 * @example
 * const keys = storedKeys({ algorithms: ['ES256', 'RS256'], encryptionSecret: process.env.GRANTRY_KEY_SECRET })
 */
export function storedKeys(options: StoredKeysOptions = {}): StoredKeys {
  const stored = parseConfiguration(storedKeysSchema, options, 'storedKeys()')
  return { stored, open: (deps) => openStoredRing({ ...deps, options: stored }) }
}
