import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { base64url, hex, utf8 } from './encoding.ts'
import type { JsonObject, MaybePromise } from './json.ts'

/**
 * What tokens are signed with; the usual one of a kind of key first. Symmetric algorithms and `none` are not in the list, so they cannot be
 * asked for (RFC 7518 section 3.1, RFC 8037 section 3.1).
 */
export const algorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const
export type SigningAlgorithm = (typeof algorithms)[number]

/** A key of one algorithm, imported once. */
export interface SignatureKey {
  /** The signature as a JWS carries it (RFC 7518 section 3.4: r and s, not DER). Only a private key can. */
  sign(data: Uint8Array<ArrayBuffer>): MaybePromise<Uint8Array>
  /** Whether this signature of this key is on the data. Never throws for what a stranger sends. */
  verify(data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): MaybePromise<boolean>
}

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
  /** Synchronous as well: a secret that takes longer than another tells which clients exist. */
  sha512(data: Uint8Array): Uint8Array
  /** Lower-case hex of the SHA-256 of the text in UTF-8: what every stored record is found by. */
  sha256Hex(text: string): string
  /** Unpadded base64url (RFC 4648 section 5); of a text, of its UTF-8. */
  base64url(data: string | Uint8Array): string
  /** AES-256-GCM (NIST SP 800-38D), IV of 12 bytes; the tag of 16 bytes is at the end. */
  encrypt(
    key: Uint8Array<ArrayBuffer>,
    iv: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>,
  ): MaybePromise<Uint8Array>
  /** Throws or rejects where the data is not what was encrypted with this key and IV. */
  decrypt(
    key: Uint8Array<ArrayBuffer>,
    iv: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>,
  ): MaybePromise<Uint8Array>
  /**
   * Once per key, at start. Whether the key may do what it shall was judged before.
   *
   * @param jwk the members that are the key itself; with `d` a private one (RFC 7517, RFC 7518 section 6, RFC 8037 section 2)
   */
  importKey(jwk: JsonObject, algorithm: SigningAlgorithm): MaybePromise<SignatureKey>
  /** What the one response of a request is made with: text or nothing, and a record of headers. */
  readonly Response: new (
    body: string | null,
    init: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  ) => Response
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

const webAlgorithms = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 },
  EdDSA: { name: 'Ed25519' },
} as const satisfies Record<SigningAlgorithm, object>

const privateMembers: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi'])

async function importKey(jwk: JsonObject, algorithm: SigningAlgorithm): Promise<SignatureKey> {
  const parameters = webAlgorithms[algorithm]
  const publicPart = Object.fromEntries(Object.entries(jwk).filter(([name]) => !privateMembers.has(name)))
  const imported = (part: JsonObject, usage: 'sign' | 'verify') =>
    crypto.subtle.importKey('jwk', part as JsonWebKey, parameters, false, [usage])
  const publicKey = await imported(publicPart, 'verify')
  const privateKey = jwk.d === undefined ? undefined : await imported(jwk, 'sign')
  return {
    async sign(data) {
      if (privateKey === undefined) throw new TypeError('A public key cannot sign')
      return new Uint8Array(await crypto.subtle.sign(parameters, privateKey, data))
    },
    verify: (data, signature) => crypto.subtle.verify(parameters, publicKey, signature, data),
  }
}

const aesKey = (key: Uint8Array<ArrayBuffer>, usage: 'encrypt' | 'decrypt') =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, [usage])

export const webRuntime: Runtime = {
  now: () => Math.floor(Date.now() / 1000),
  elapsed: () => performance.now(),
  randomBytes,
  sha256,
  sha512,
  sha256Hex: (text) => hex(sha256(utf8(text))),
  base64url: (data) => base64url(typeof data === 'string' ? utf8(data) : data),
  encrypt: async (key, iv, data) =>
    new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await aesKey(key, 'encrypt'), data)),
  decrypt: async (key, iv, data) =>
    new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await aesKey(key, 'decrypt'), data)),
  importKey,
  // A getter: where a host installs a polyfill later, it is found.
  get Response() {
    return Response
  },
}

/** Web standards, but for the parts that a host brings. Read once: what it changes later changes nothing. */
export const completeRuntime = (given: { readonly [Part in keyof Runtime]?: Runtime[Part] | undefined }): Runtime =>
  Object.freeze({
    now: given.now ?? webRuntime.now,
    elapsed: given.elapsed ?? webRuntime.elapsed,
    randomBytes: given.randomBytes ?? webRuntime.randomBytes,
    sha256: given.sha256 ?? webRuntime.sha256,
    sha512: given.sha512 ?? webRuntime.sha512,
    sha256Hex: given.sha256Hex ?? webRuntime.sha256Hex,
    base64url: given.base64url ?? webRuntime.base64url,
    encrypt: given.encrypt ?? webRuntime.encrypt,
    decrypt: given.decrypt ?? webRuntime.decrypt,
    importKey: given.importKey ?? webRuntime.importKey,
    Response: given.Response ?? webRuntime.Response,
  })
