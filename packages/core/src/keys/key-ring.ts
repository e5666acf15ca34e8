import type { JWK } from 'jose'
import type { MaybePromise } from '../json.ts'
import type { SignatureKey, SigningAlgorithm } from '../runtime.ts'

/** A key that was imported, once. */
export interface RingKey extends SignatureKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
}

/** What a key does: it is published and will sign, it signs, or it verifies what it has signed until the last of that has ended. */
export type KeyState = 'next' | 'current' | 'retiring'

/** A key as an operator sees it: nothing of the key itself. Times are in epoch seconds. */
export interface KeyInfo {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly state: KeyState
  readonly createdAt: number
  /** When it began to sign. */
  readonly activatedAt?: number
  /** When it stopped. */
  readonly retiredAt?: number
  /** Until when tokens that it signed are accepted. */
  readonly keptUntil?: number
}

export interface RotateOptions {
  /** Also where the next key was published too short a time ago for everybody to know it. */
  readonly force?: boolean
}

export interface RetireOptions extends RotateOptions {
  /**
   * The private key is known to others: it is removed immediately, and every token that it signed is refused. Add its `kid` to `refused` of
   * `storedKeys()` as well, so that a restored backup cannot bring it back.
   */
  readonly compromised?: boolean
}

/**
 * The signing keys of a provider, for whoever operates it. `rotate` and `retire` need keys that are kept in the store (`storedKeys()`) and answer
 * with the keys as they are afterwards.
 *
 * @example
 * await provider.keys.retire('2Qq0...', { compromised: true })
 */
export interface ProviderKeys {
  /** Every key, as the store has it now. */
  list(): Promise<readonly KeyInfo[]>
  /**
   * Lets the next key of every algorithm sign. Processes that share the store follow by themselves; of several that rotate at the same moment one does it.
   *
   * @throws TypeError with a sentence when the keys are not kept in the store, or the next one was published a moment ago.
   */
  rotate(options?: RotateOptions): Promise<readonly KeyInfo[]>
  /**
   * Takes one key out of use: a current one stops signing, a next one is replaced.
   *
   * @throws TypeError with a sentence when there is no such key, or as `rotate`.
   */
  retire(kid: string, options?: RetireOptions): Promise<readonly KeyInfo[]>
}

/** RFC 7517 section 5: public members only. */
export interface JwkSet {
  readonly keys: readonly JWK[]
}

/** The keys of this provider. What is known is answered at once; a promise is a look into the store. */
export interface KeyRing {
  /** Those that sign; the first one does unless another is asked for. */
  readonly algorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]]
  /**
   * The key that signs, of this algorithm.
   * @throws OAuthError `server_error` when none signs by it.
   */
  signer(algorithm?: SigningAlgorithm): MaybePromise<RingKey>
  find(kid: string): MaybePromise<RingKey | undefined>
  /** Another object only when the keys are others: what is made of it can be kept. */
  jwks(): MaybePromise<JwkSet>
  readonly operator: ProviderKeys
  /** When nothing goes on behind the requests any more. */
  settled(): Promise<void>
}
