import type { JWK } from 'jose'
import { OAuthError } from '../errors/oauth-error.ts'
import { type Bytes, type Runtime, type SignatureKey, type SigningAlgorithm, utf8 } from '../runtime.ts'

/** An imported key with its id. */
export interface RingKey extends SignatureKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  /** 32 bytes, derived from the private key; absent without one, as for an external key. */
  readonly sealing?: Bytes | undefined
}

/**
 * The state of a key. `next`: published, will sign later. `current`: signs. `retiring`: only verifies, until its last
 * token has expired.
 */
export type KeyState = 'next' | 'current' | 'retiring'

/** Metadata of a key, without key material. Times are in epoch seconds. */
export interface KeyInfo {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly state: KeyState
  readonly createdAt: number
  /** When the key started to sign. */
  readonly activatedAt?: number | undefined
  /** When the key stopped signing. */
  readonly retiredAt?: number | undefined
  /** Until when tokens that the key signed are accepted. */
  readonly keptUntil?: number | undefined
}

export interface RotateOptions {
  /** Rotates even if the next key was published so recently that caches may not contain it yet. */
  readonly force?: boolean | undefined
}

export interface RetireOptions extends RotateOptions {
  /**
   * Set it if the private key has leaked: the key is removed immediately, and tokens that it signed are refused. Also
   * add its `kid` to `refused` of `storedKeys()`, so that a restored backup cannot bring it back.
   */
  readonly compromised?: boolean | undefined
}

/**
 * Lists and changes the signing keys of a provider. `rotate` and `retire` require `storedKeys()` and return the
 * resulting keys.
 *
 * @example
 * await provider.keys.retire('2Qq0...', { compromised: true })
 */
export interface ProviderKeys {
  /** Returns all keys, as currently stored. */
  list(): Promise<readonly KeyInfo[]>
  /**
   * Makes the next key of every algorithm the signing key. Other processes with the same storage follow automatically.
   * If several processes rotate at the same time, the keys rotate once.
   *
   * @throws TypeError when the keys are not kept in the storage, or the next key was published too recently.
   */
  rotate(options?: RotateOptions): Promise<readonly KeyInfo[]>
  /**
   * Retires a key: a current key stops signing, a next key is replaced.
   *
   * @throws TypeError when there is no such key, or as `rotate` does.
   */
  retire(kid: string, options?: RetireOptions): Promise<readonly KeyInfo[]>
}

/** RFC 7517 section 5: public members only. */
export interface JwkSet {
  readonly keys: readonly JWK[]
}

/** The keys of a provider. */
export interface KeyRing {
  /** The algorithms with a signing key. The first is the default. */
  readonly algorithms: readonly [SigningAlgorithm, ...SigningAlgorithm[]]
  /**
   * Returns the signing key of an algorithm.
   *
   * @throws OAuthError `server_error` when the algorithm has no signing key.
   */
  signer(algorithm?: SigningAlgorithm): Promise<RingKey>
  /** Returns the key with which plugins seal: the default signing key, or if that is external, the first that is not. */
  sealer(): Promise<RingKey>
  find(kid: string): Promise<RingKey | undefined>
  /**
   * The secrets for retries. The first one is used for new responses, all of them for the responses of other processes.
   * Empty if the provider has no secret outside the storage: the stored keys are not encrypted, or all keys are external.
   */
  readonly retrySecrets: readonly RetrySecret[]
  /** Returns the same object until the keys change, so that results derived from it can be cached. */
  jwks(): Promise<JwkSet>
  readonly operator: ProviderKeys
  /** Resolves when no background work is in progress. */
  settled(): Promise<void>
}

/** @throws OAuthError `server_error` when no key has the algorithm, which a client from a client store requires. */
export function signerOf(signers: ReadonlyMap<SigningAlgorithm, RingKey>, algorithm: SigningAlgorithm): RingKey {
  const key = signers.get(algorithm)
  if (key !== undefined) return key
  throw new OAuthError('server_error', 'The request failed', {
    reason: 'signing_key_missing',
    cause: new Error(`No key uses ${String(algorithm)}; add it to the algorithms of keys`),
  })
}

/**
 * A secret that the storage does not contain, and all processes of a provider have. The tokens of a refresh are derived
 * with it, so that a copy of the storage leads to none of them.
 *
 * @see docs/decisions/0089-a-secret-for-retries.md
 */
export interface RetrySecret {
  /** Identifies the secret in stored records, and reveals nothing about it. */
  readonly id: string
  /** The secret itself: 32 bytes. */
  readonly bytes: Bytes
}

const label = utf8('grantry retry secret 1\n')

/**
 * Derives a secret for retries.
 *
 * @param secret 32 random bytes that are used for something else.
 */
export function retrySecretOf(secret: Uint8Array, { sha256, base64url }: Runtime): RetrySecret {
  const input = new Uint8Array(label.length + secret.length)
  input.set(label)
  input.set(secret, label.length)
  const bytes = new Uint8Array(sha256(input))
  return { id: base64url(sha256(bytes).slice(0, 6)), bytes }
}
