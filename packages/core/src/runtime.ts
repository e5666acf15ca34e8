import { sha256 } from '@noble/hashes/sha2.js'
import type { JsonObject, MaybePromise, Optional } from './types.ts'

/** `Uint8Array<ArrayBuffer>`, which Web Crypto requires, for consumers with TypeScript before 5.7 too. */
export type Bytes = ReturnType<Uint8Array['slice']>

const encoder = new TextEncoder()
// ignoreBOM keeps a leading U+FEFF, so two different byte strings never decode to the same text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const utf8 = (text: string): Bytes => encoder.encode(text)

/** Decodes UTF-8; returns `undefined` if the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const hexCodes = encoder.encode('0123456789abcdef')

export function hex(bytes: Uint8Array): string {
  const codes = new Uint8Array(2 * bytes.length)
  let at = 0
  for (const byte of bytes) {
    codes[at] = hexCodes[byte >> 4] ?? 0
    codes[at + 1] = hexCodes[byte & 15] ?? 0
    at += 2
  }
  return decoder.decode(codes)
}

const base64urlCodes = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

/**
 * Encodes as unpadded base64url (RFC 4648 section 5). Three times as fast as `btoa` for JWT claims: `btoa` needs a
 * binary string and uses another alphabet.
 */
export function base64url(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let bits = 0
  let held = 0
  let length = 0
  for (let index = 0; index < bytes.length; index += 1) {
    bits = (bits << 8) | (bytes[index] ?? 0)
    held += 8
    while (held >= 6) {
      held -= 6
      codes[length++] = base64urlCodes[(bits >> held) & 63] ?? 0
    }
    bits &= 63
  }
  if (held > 0) codes[length] = base64urlCodes[(bits << (6 - held)) & 63] ?? 0
  return decoder.decode(codes)
}

const base64Form = /^[A-Za-z0-9+/]*={0,2}$/u

/**
 * Decodes padded base64 (RFC 4648 section 4) to a text with one character per byte, or returns `undefined`. Stricter than
 * `atob`, which ignores white space and accepts missing padding.
 */
const binaryIn = (text: string): string | undefined =>
  text.length % 4 === 0 && base64Form.test(text) ? atob(text) : undefined

function bytesOf(binary: string): Bytes {
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Decodes padded base64 (RFC 4648 section 4), or returns `undefined`. */
export function decodeBase64(text: string): Bytes | undefined {
  const binary = binaryIn(text)
  return binary === undefined ? undefined : bytesOf(binary)
}

const asciiForm = /^[\0-\x7f]*$/u

/** Decodes padded base64 of UTF-8, or returns `undefined`. */
export function decodeBase64Text(text: string): string | undefined {
  const binary = binaryIn(text)
  // In ASCII, each byte is its character: in a third of the time.
  return binary === undefined || asciiForm.test(binary) ? binary : decodeUtf8(bytesOf(binary))
}

const base64urlForm = /^[A-Za-z0-9_-]*$/u

/** Decodes unpadded base64url (RFC 4648 section 5), or returns `undefined`. */
export function decodeBase64url(text: string): Bytes | undefined {
  if (!base64urlForm.test(text) || text.length % 4 === 1) return undefined
  const padded = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .padEnd(Math.ceil(text.length / 4) * 4, '=')
  return decodeBase64(padded)
}

/**
 * The supported signing algorithms. For a key type with several, the first is the default. Symmetric algorithms and
 * `none` are not supported (RFC 7518 section 3.1, RFC 8037 section 3.1).
 */
export const algorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const
export type SigningAlgorithm = (typeof algorithms)[number]

export const isSigningAlgorithm = (name: unknown): name is SigningAlgorithm =>
  algorithms.includes(name as SigningAlgorithm)

/** An imported key for one algorithm. */
export interface SignatureKey {
  /** Returns the signature in JWS form (RFC 7518 section 3.4: r and s, not DER). Throws for a public key. */
  sign(data: Bytes): MaybePromise<Uint8Array>
  /** Whether the signature over the data is valid. Must not throw for malformed input. */
  verify(data: Bytes, signature: Bytes): MaybePromise<boolean>
}

/**
 * The platform functions that the core uses. The defaults use only web standards. An adapter can replace them with
 * faster equivalents, and a test can set the clock. Nothing else in the core reads a clock or generates random values.
 */
export interface Runtime {
  /** Epoch seconds, an integer. */
  now(): number
  /** Milliseconds on a monotonic clock; only differences are meaningful. */
  elapsed(): number
  /** Cryptographically strong random bytes. */
  randomBytes(length: number): Bytes
  /** SHA-256. Synchronous, because `crypto.subtle.digest` costs a thread hop: far more than hashing a short string. */
  sha256(data: Uint8Array): Uint8Array
  /**
   * SHA-512, for secrets that are stored as one, retries of refresh requests, and `at_hash` of EdDSA. It can be
   * asynchronous: each check of a secret waits for it, or none does, so its timing does not reveal which clients exist.
   */
  sha512(data: Bytes): MaybePromise<Uint8Array>
  /** The SHA-256 of the UTF-8 text in lower-case hex. Every record key contains one. */
  sha256Hex(text: string): string
  /** Unpadded base64url (RFC 4648 section 5). A string is encoded as UTF-8 first. */
  base64url(data: string | Uint8Array): string
  /** AES-256-GCM (NIST SP 800-38D) with an IV of 12 bytes. The result ends with the tag of 16 bytes. */
  encrypt(key: Bytes, iv: Bytes, data: Bytes): MaybePromise<Uint8Array>
  /** Throws or rejects if the data was not encrypted with this key and IV, or was changed. */
  decrypt(key: Bytes, iv: Bytes, data: Bytes): MaybePromise<Uint8Array>
  /**
   * Imports a key, once per key, at startup. The core has already checked that the key fits the algorithm.
   *
   * @param jwk the key members only; with `d` for a private key (RFC 7517, RFC 7518 section 6, RFC 8037 section 2)
   */
  importKey(jwk: JsonObject, algorithm: SigningAlgorithm): MaybePromise<SignatureKey>
  /** The constructor of responses. The core passes a string or `null`, and a plain object of headers. */
  readonly Response: new (
    body: string | null,
    init: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  ) => Response
}

const pool = new Uint8Array(4096)
let used = pool.length

/** Takes bytes from a pool: 32 bytes cost 3 microseconds with a system call each, 0.1 from a pool. */
function randomBytes(length: number): Bytes {
  if (length > pool.length) return crypto.getRandomValues(new Uint8Array(length))
  if (used + length > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + length)
  // The pool keeps no copy of the bytes it returns.
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

/** Generates a private key. Only RSA heeds `modulusLength`. Not in the runtime: it is needed once for each rotation. */
export async function generatePrivateKey(algorithm: SigningAlgorithm, modulusLength: number): Promise<JsonWebKey> {
  const parameters = { ...webAlgorithms[algorithm], modulusLength, publicExponent: Uint8Array.of(1, 0, 1) }
  const { privateKey } = (await crypto.subtle.generateKey(parameters, true, ['sign', 'verify'])) as CryptoKeyPair
  return crypto.subtle.exportKey('jwk', privateKey)
}

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

const aesKey = (key: Bytes, usage: 'encrypt' | 'decrypt') =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, [usage])

export const webRuntime: Runtime = {
  now: () => Math.floor(Date.now() / 1000),
  elapsed: () => performance.now(),
  randomBytes,
  sha256,
  sha512: async (data) => new Uint8Array(await crypto.subtle.digest('SHA-512', data)),
  sha256Hex: (text) => hex(sha256(utf8(text))),
  base64url: (data) => base64url(typeof data === 'string' ? utf8(data) : data),
  encrypt: async (key, iv, data) =>
    new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await aesKey(key, 'encrypt'), data)),
  decrypt: async (key, iv, data) =>
    new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await aesKey(key, 'decrypt'), data)),
  importKey,
  // A getter, so that a polyfill that is installed later is used.
  get Response() {
    return Response
  },
}

/** Returns the default runtime with the given parts replaced. Later changes to `parts` have no effect. */
export const completeRuntime = (parts: Optional<Runtime>): Runtime =>
  Object.freeze({
    now: parts.now ?? webRuntime.now,
    elapsed: parts.elapsed ?? webRuntime.elapsed,
    randomBytes: parts.randomBytes ?? webRuntime.randomBytes,
    sha256: parts.sha256 ?? webRuntime.sha256,
    sha512: parts.sha512 ?? webRuntime.sha512,
    sha256Hex: parts.sha256Hex ?? webRuntime.sha256Hex,
    base64url: parts.base64url ?? webRuntime.base64url,
    encrypt: parts.encrypt ?? webRuntime.encrypt,
    decrypt: parts.decrypt ?? webRuntime.decrypt,
    importKey: parts.importKey ?? webRuntime.importKey,
    Response: parts.Response ?? webRuntime.Response,
  })

/** Seconds by which clocks of servers may differ. Within them, the order of a revocation and an attempt is unknown. */
export const clockDifference = 3600

/** Random bytes as base64url. It never begins with a dash, because a command would read such an id as an option. */
export const randomId = (runtime: Pick<Runtime, 'base64url' | 'randomBytes'>, bytes: number): string =>
  runtime.base64url(runtime.randomBytes(bytes)).replace(/^-/u, '0')
