import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import type { Runtime } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'

/** Encrypts and authenticates what is stored of one generation. */
export interface RingCipher {
  /** Tells a wrong secret from a record that was changed; nothing about the secret can be learned from it. */
  readonly secretId: string
  seal(content: JsonObject, number: number): Promise<string>
  /** `undefined` where it was not sealed by this secret for this generation of this issuer. */
  open(sealed: string, number: number): Promise<unknown>
}

/**
 * AES-256-GCM under keys derived by HKDF-SHA-256 (RFC 5869). The whole generation is sealed, not only its private parts: whoever could write a public
 * key of their own into the store could sign tokens with the other half of it. Each generation has a key of its own, so that a record counts at
 * its own place only.
 */
export function createRingCipher(secret: string, issuer: string, runtime: Runtime): RingCipher {
  const input = utf8(secret)
  const derive = (purpose: string, length: number): Uint8Array<ArrayBuffer> =>
    new Uint8Array(hkdf(sha256, input, undefined, utf8(`grantry ${purpose} 1\n${issuer}`), length))
  const keyOf = (number: number): Uint8Array<ArrayBuffer> => derive(`key ring ${number}`, 32)
  return {
    secretId: runtime.base64url(derive('key ring secret id', 8)),
    seal: (content, number) => sealJson(content, keyOf(number), runtime),
    open: (sealed, number) => openJson(sealed, keyOf(number), runtime),
  }
}
