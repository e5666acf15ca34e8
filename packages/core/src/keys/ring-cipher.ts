import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, utf8 } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'
import type { JsonObject } from '../types.ts'
import { type RetrySecret, retrySecretOf } from './retry-secret.ts'

/** Encrypts and authenticates the stored generations of a key ring. */
export interface RingCipher {
  /**
   * An id derived from the secret, which distinguishes a wrong secret from a changed record. It reveals nothing about
   * the secret.
   */
  readonly secretId: string
  readonly retrySecret: RetrySecret
  seal(content: JsonObject, number: number): Promise<string>
  /**
   * Decrypts a generation; returns `undefined` if it was not sealed with this secret for this issuer and generation.
   */
  open(sealed: string, number: number): Promise<unknown>
}

/**
 * Creates a cipher that uses AES-256-GCM with keys derived by HKDF-SHA-256 (RFC 5869). It seals the whole generation,
 * not only the private keys: an attacker who could add a public key to the storage could sign tokens with its private
 * key. Each generation has its own key, so a record cannot be moved to another generation.
 */
export function createRingCipher(secret: string, issuer: string, runtime: Runtime): RingCipher {
  const input = utf8(secret)
  const derive = (purpose: string, length: number): Bytes =>
    new Uint8Array(hkdf(sha256, input, undefined, utf8(`grantry ${purpose} 1\n${issuer}`), length))
  const keyOf = (number: number): Bytes => derive(`key ring ${number}`, 32)
  return {
    secretId: runtime.base64url(derive('key ring secret id', 8)),
    retrySecret: retrySecretOf(derive('retries', 32), runtime),
    seal: (content, number) => sealJson(content, keyOf(number), runtime),
    open: (sealed, number) => openJson(sealed, keyOf(number), runtime),
  }
}
