import { type Bytes, utf8 } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'

/** The time and the random values of the tokens in one response. */
export interface Issuance {
  /** Epoch seconds. */
  readonly at: number
  /** 32 bytes: the reference token, or the id of the JWT. */
  readonly accessToken: Bytes
  /** 32 bytes. */
  readonly refreshToken: Bytes
  /** Set if the holder of the redeemed refresh token can derive the same values again, for a retry. */
  readonly nonce?: string
}

/** Returns the current time and new random values. */
export const randomIssuance = ({ now, randomBytes }: Runtime): Issuance => ({
  at: now(),
  accessToken: randomBytes(32),
  refreshToken: randomBytes(32),
})

/** The block size of SHA-512, in bytes. */
const blockSize = 128

/** Returns the key as a block, each byte XORed with `pad`, and the message after it. A loop: `map` takes 1.4 us. */
function padded(key: Uint8Array, pad: number, message: Uint8Array): Bytes {
  const bytes = new Uint8Array(blockSize + message.length)
  for (let index = 0; index < blockSize; index += 1) bytes[index] = (key[index] ?? 0) ^ pad
  bytes.set(message, blockSize)
  return bytes
}

/** HMAC-SHA-512 (RFC 2104). Synchronous, unlike that of `crypto.subtle`. */
function hmac(key: Uint8Array, message: Uint8Array, { sha512 }: Runtime): Uint8Array {
  const block = key.length > blockSize ? sha512(key) : key
  return sha512(padded(block, 0x5c, sha512(padded(block, 0x36, message))))
}

/**
 * Derives the random values from a refresh token and a nonce, so that only its holder can repeat them. The storage
 * contains the nonce, but never the token.
 *
 * @see docs/decisions/0044-derived-tokens-for-retries.md
 */
export function derivedIssuance(refreshToken: string, nonce: string, at: number, runtime: Runtime): Issuance {
  const derived = hmac(utf8(refreshToken), utf8(`grantry retry 1\n${nonce}`), runtime)
  return { at, accessToken: derived.slice(0, 32), refreshToken: derived.slice(32), nonce }
}
