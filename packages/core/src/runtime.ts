import { sha256, sha512 } from '@noble/hashes/sha2.js'

/**
 * Everything the core takes from its surroundings. The default is web standards only; an adapter may hand in faster parts
 * with the same meaning, and a test a clock of its own. Nothing else in the core reads a clock or makes randomness.
 */
export interface Runtime {
  /** Seconds since the Unix epoch, an integer. */
  now(): number
  /** Milliseconds on a clock that never goes back; only differences have a meaning. */
  elapsed(): number
  /** Cryptographically strong random bytes. */
  randomBytes(length: number): Uint8Array<ArrayBuffer>
  /** Synchronous: `crypto.subtle.digest` costs a thread hop, many times the hash of a short string. */
  sha256(data: Uint8Array): Uint8Array
  sha512(data: Uint8Array): Uint8Array
  readonly subtle: SubtleCrypto
  readonly Response: typeof Response
}

const poolSize = 4096
const pool = new Uint8Array(poolSize)
let used = poolSize

/** One call to the system serves many tokens: 32 bytes cost 3 microseconds each alone, 0.1 out of a pool. */
function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  if (length > poolSize) return crypto.getRandomValues(new Uint8Array(length))
  if (used + length > poolSize) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + length)
  // What was handed out does not stay in memory.
  pool.fill(0, used, used + length)
  used += length
  return bytes
}

export const webRuntime: Runtime = {
  now: () => Math.floor(Date.now() / 1000),
  elapsed: () => performance.now(),
  randomBytes,
  sha256,
  sha512,
  // Getters: where a host installs a polyfill later, it is found.
  get subtle() {
    return crypto.subtle
  },
  get Response() {
    return Response
  },
}
