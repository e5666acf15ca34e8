import * as v from 'valibot'
import { configurationObject, lifetimeSchema, type OptionsOf } from '../config-schema.ts'
import { algorithms, type SigningAlgorithm } from '../runtime.ts'
import { thumbprintForm } from './ring-content.ts'

const algorithm = v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)

/** The schema of the options of `storedKeys()`, which the server uses for its configuration too. */
export const storedKeysSchema = configurationObject({
  /**
   * The signing algorithms. The first signs access tokens, `RS256` identity tokens; a client can select another for its
   * identity tokens. Default: `['ES256', 'RS256']`, and `['ES256']` if no client can get identity tokens.
   */
  algorithms: v.optional(
    v.pipe(
      v.array(algorithm, `must be an array of ${algorithms.join(', ')}`),
      v.nonEmpty('must not be empty'),
      v.check((list) => new Set(list).size === list.length, 'must name each algorithm once'),
      v.transform((list) => list as [SigningAlgorithm, ...SigningAlgorithm[]]),
    ),
  ),
  /** Seconds for which a key signs. Default: 90 days; minimum: 600. */
  rotateAfter: v.optional(
    v.pipe(
      lifetimeSchema,
      v.minValue(600, 'must be at least 600 seconds, because the next key is published before it signs'),
    ),
    7_776_000,
  ),
  /**
   * Encrypts and authenticates the keys in the storage. At least 32 characters. Unencrypted keys are then refused;
   * encrypt existing ones with `sealStoredKeys()`. `undefined` is rejected, because it usually comes from an environment
   * variable that is not set: omit the option to store the keys without encryption.
   */
  encryptionSecret: v.exactOptional(
    v.pipe(
      v.string('must be a string; to store the keys without encryption, omit it'),
      v.minLength(32, 'must be at least 32 characters; create one with grantry hash-secret'),
    ),
  ),
  /**
   * The ids (`kid`) of compromised keys. The provider never signs with them, never publishes them and refuses their
   * tokens, even if a restored backup contains them.
   */
  refused: v.optional(
    v.array(
      v.pipe(
        v.string('must be a key id'),
        v.regex(thumbprintForm, 'must be a key id, as listed by "grantry keys list"'),
      ),
      'must be an array of key ids',
    ),
    [],
  ),
  /**
   * The minimum time in seconds for which a retired key verifies. Default: one day. Token lifetimes of clients in an
   * array are taken into account automatically; with a client store, or a plugin that keeps clients, set this to the
   * longest token lifetime.
   */
  keepFor: v.optional(lifetimeSchema, 86_400),
  /**
   * The minimum interval, in seconds, at which a process that handles requests reads the keys to see rotations by other
   * processes. Default: 5.
   */
  refreshInterval: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.minValue(0.1, 'must be 0.1 to 30 seconds'),
      v.maxValue(30, 'must be 0.1 to 30 seconds'),
    ),
    5,
  ),
})

/** The options of `storedKeys()`. */
export type StoredKeysOptions = OptionsOf<typeof storedKeysSchema>

export type CheckedStoredKeys = v.InferOutput<typeof storedKeysSchema>

/** The options with the algorithms of this provider. */
export interface RingOptions extends Omit<CheckedStoredKeys, 'algorithms'> {
  readonly algorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]]
}
