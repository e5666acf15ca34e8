import { type Bytes, utf8 } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'

/**
 * A secret that the storage does not contain, and all processes of a provider have. The tokens of a refresh are derived
 * with it, so that a copy of the storage leads to none of them.
 *
 * @see docs/decisions/0089-a-secret-for-retries.md
 */
export interface RetrySecret {
  /** Names the secret in the storage, and reveals nothing about it. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Bytes
}

const label = utf8('grantry retry secret 1\n')

/**
 * Derives a secret for retries.
 *
 * @param secret 32 random bytes that are used for something else.
 */
export function retrySecretOf(secret: Uint8Array, { sha512, base64url }: Runtime): RetrySecret {
  const input = new Uint8Array(label.length + secret.length)
  input.set(label)
  input.set(secret, label.length)
  const derived = new Uint8Array(sha512(input))
  return { id: base64url(derived.slice(32, 38)), bytes: derived.slice(0, 32) }
}
