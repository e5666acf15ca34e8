import type { RetrySecret } from '../keys/key-ring.ts'
import { after } from '../promises.ts'
import { type Bytes, type Runtime, randomId, utf8 } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'

/** The time and the random values of the tokens in one response. */
export interface Issuance {
  /** When the tokens were issued first (epoch seconds). */
  readonly at: number
  /** The time of the response; later than `at` if it repeats an earlier one. */
  readonly now: number
  /** 32 bytes: the reference token, or the id of the JWT. */
  readonly accessToken: Bytes
  /** 32 bytes. */
  readonly refreshToken: Bytes
  /** Limits the lifetime of the access token, in seconds. */
  readonly lifetime?: number
  /** Set if the values can be derived again for a retry. */
  readonly derivation?: Derivation
}

/** What is stored for a retry, to derive the values of the first response again. */
export interface Derivation {
  readonly nonce: string
  /** The id of the secret; absent if the provider has none. */
  readonly secret?: string | undefined
}

/** The block size of SHA-512, in bytes. */
const blockSize = 128

/** Returns the key as a block, each byte XORed with `pad`, and the message after it. A loop: `map` takes 1.4 us. */
function padded(key: Uint8Array, pad: number, message: Uint8Array): Bytes {
  const bytes = new Uint8Array(blockSize + message.length)
  for (let index = 0; index < blockSize; index += 1) bytes[index] = (key[index] ?? 0) ^ pad
  bytes.set(message, blockSize)
  return bytes
}

/** HMAC-SHA-512 (RFC 2104). Synchronous if the runtime is, unlike that of `crypto.subtle`. */
const hmac = (key: Bytes, message: Uint8Array, { sha512 }: Runtime): MaybePromise<Uint8Array> =>
  after(key.length > blockSize ? sha512(key) : key, (block) =>
    after(sha512(padded(block, 0x36, message)), (inner) => sha512(padded(block, 0x5c, inner))),
  )

/** Creates the times and random values of responses. */
export interface Issuances {
  /** Returns the current time and new random values. */
  random(): Issuance
  /** Returns the current time and values that `repeated` can derive again from this refresh token. */
  repeatable(refreshToken: string): MaybePromise<Issuance>
  /**
   * Returns the values of an earlier response. `undefined` if a process with another secret has sent it.
   *
   * @param at the time of that response, in epoch seconds.
   */
  repeated(refreshToken: string, derivation: Derivation, at: number): MaybePromise<Issuance> | undefined
  /** Returns the same refresh token with the current time and a new access token. */
  renewed(earlier: Issuance, lifetime: number): Issuance
}

/** @see docs/decisions/0089-a-secret-for-retries.md */
export function createIssuances(retrySecrets: readonly RetrySecret[], runtime: Runtime): Issuances {
  const [newest] = retrySecrets

  /** The holder of the refresh token does not have the secret; a reader of the storage has neither, only the nonce. */
  function derived(
    refreshToken: string,
    derivation: Derivation,
    secret: RetrySecret | undefined,
    at: number,
  ): MaybePromise<Issuance> {
    const token = utf8(refreshToken)
    const key = new Uint8Array(token.length + (secret?.bytes.length ?? 0))
    key.set(token)
    if (secret !== undefined) key.set(secret.bytes, token.length)
    const now = runtime.now()
    return after(hmac(key, utf8(`grantry retry 1\n${derivation.nonce}`), runtime), (result) => {
      const values = new Uint8Array(result)
      return { at, now, accessToken: values.slice(0, 32), refreshToken: values.slice(32), derivation }
    })
  }

  return {
    random() {
      const now = runtime.now()
      return { at: now, now, accessToken: runtime.randomBytes(32), refreshToken: runtime.randomBytes(32) }
    },
    repeatable(refreshToken) {
      const nonce = randomId(runtime, 16)
      const derivation = newest === undefined ? { nonce } : { nonce, secret: newest.id }
      return derived(refreshToken, derivation, newest, runtime.now())
    },
    repeated(refreshToken, derivation, at) {
      const secret = retrySecrets.find(({ id }) => id === derivation.secret)
      if (derivation.secret !== undefined && secret === undefined) return undefined
      return derived(refreshToken, derivation, secret, at)
    },
    renewed({ refreshToken }, lifetime) {
      const now = runtime.now()
      return { at: now, now, accessToken: runtime.randomBytes(32), refreshToken, lifetime }
    },
  }
}
