import type { JWK } from 'jose'
import {
  algorithms,
  type Bytes,
  decodeBase64url,
  generatePrivateKey,
  isSigningAlgorithm,
  type Runtime,
  type SignatureKey,
  type SigningAlgorithm,
  utf8,
} from '../runtime.ts'
import type { JsonObject } from '../types.ts'
import { type ExternalKey, externalSignatureKey, isExternalKey } from './external-key.ts'
import { type KeyInfo, type KeyRing, type RingKey, retrySecretOf, signerOf } from './key-ring.ts'

const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const
/** RFC 7638 section 3.2, RFC 8037 section 2: the members that identify a key, in the order in which they are hashed. */
const thumbprintMembers: Readonly<Record<string, string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
}
const minModulusBits = 2048
const probe = utf8('grantry')

const partOf = (jwk: JWK, names: readonly (keyof JWK)[]): JWK =>
  Object.fromEntries(names.filter((name) => jwk[name] !== undefined).map((name) => [name, jwk[name]])) as JWK

/** Returns the public members of a key. */
export const publicPartOf = (jwk: JWK): JWK => partOf(jwk, publicMembers)

/** Returns the SHA-256 thumbprint of a key (RFC 7638). */
export const thumbprintOf = (jwk: JWK, { base64url, sha256 }: Runtime): string =>
  base64url(sha256(utf8(JSON.stringify(jwk, thumbprintMembers[jwk.kty ?? '']))))

/** Returns a key as it appears in the JWK set. */
export const publishedKey = (jwk: JWK, kid: string, algorithm: SigningAlgorithm): JWK => ({
  ...publicPartOf(jwk),
  kid,
  alg: algorithm,
  use: 'sig',
})

/** Returns the key members of a JWK, without metadata such as `kid` and `use`. */
export const materialOf = (jwk: JWK): JWK => partOf(jwk, [...publicMembers, ...privateMembers])

/** Returns the `alg` of a key, or the default algorithm of its key type; `undefined` if none fits. */
function algorithmOf(jwk: JWK): SigningAlgorithm | undefined {
  if (jwk.alg !== undefined) return isSigningAlgorithm(jwk.alg) && fits(jwk, jwk.alg) ? jwk.alg : undefined
  return algorithms.find((algorithm) => fits(jwk, algorithm))
}

function fits({ kty, crv }: JWK, algorithm: SigningAlgorithm): boolean {
  if (algorithm === 'ES256') return kty === 'EC' && crv === 'P-256'
  if (algorithm === 'EdDSA') return kty === 'OKP' && crv === 'Ed25519'
  return kty === 'RSA'
}

/** The size of an RSA modulus in bits, without leading zeros. */
function modulusBits({ n }: JWK): number {
  const bytes = decodeBase64url(n ?? '') ?? new Uint8Array()
  const first = bytes.findIndex((byte) => byte !== 0)
  if (first < 0) return 0
  return (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24
}

const described = ({ kty, crv, alg }: JWK): string =>
  Object.entries({ kty, crv, alg })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ') || 'no kty'

interface ImportedKey {
  readonly key: RingKey
  readonly published: JWK
  /** Whether the key can sign. */
  readonly private: boolean
}

/** The keys that were checked. Several providers of a process can share one, which is checked once. */
const pairs = new WeakSet<SignatureKey>()

/** Checks that the private and the public part match; otherwise the tokens could not be verified. */
async function assertPair(key: SignatureKey): Promise<void> {
  if (pairs.has(key)) return
  const signature = new Uint8Array(await key.sign(probe))
  if (!(await key.verify(probe, signature))) throw new TypeError('The private and the public part do not match')
  pairs.add(key)
}

const messageOf = (thrown: unknown): string => {
  const { cause = thrown } = thrown as { readonly cause?: unknown }
  return cause instanceof Error ? cause.message : String(cause)
}

/** @throws TypeError when an external signer does not sign with the key of its `publicKey`. */
async function assertSigns(key: RingKey, where: string): Promise<void> {
  try {
    // The key verifies each signature itself.
    await key.sign(probe)
  } catch (thrown) {
    throw new TypeError(
      `${where}: sign() must return a ${key.algorithm} signature that matches publicKey, in JWS form (not DER): ${messageOf(thrown)}`,
    )
  }
}

/**
 * Derives the key for sealing, because another purpose needs another key. A private key is random, so its hash is as
 * hard to guess.
 */
const sealingKeyOf = (d: string, { sha256 }: Runtime): Bytes => new Uint8Array(sha256(utf8(`grantry sealing 1\n${d}`)))

/**
 * Imports a key and checks that it can be used.
 *
 * @param where the start of every error message, such as `keys[0]`.
 * @throws TypeError with a sentence that says why the key cannot be used. It contains no key material.
 */
export async function importKey(configured: JWK | ExternalKey, where: string, runtime: Runtime): Promise<ImportedKey> {
  if (typeof configured !== 'object' || configured === null) throw new TypeError(`${where} must be a JWK`)
  const external = isExternalKey(configured) ? configured : undefined
  if (external !== undefined && (typeof external.publicKey !== 'object' || external.publicKey === null)) {
    throw new TypeError(`${where} has sign() but no publicKey; add publicKey, a JWK`)
  }
  const jwk = external === undefined ? (configured as JWK) : external.publicKey
  const algorithm = algorithmOf(jwk)
  if (algorithm === undefined) {
    throw new TypeError(`${where} must be a key for ${algorithms.join(', ')}; it has ${described(jwk)}`)
  }
  if (jwk.kty === 'RSA' && modulusBits(jwk) < minModulusBits) {
    throw new TypeError(`${where} is an RSA key with fewer than ${minModulusBits} bits; use a larger one`)
  }
  if (jwk.kid !== undefined && (typeof jwk.kid !== 'string' || jwk.kid === '')) {
    throw new TypeError(`${where} has an invalid kid; use a non-empty string, or remove it to use the thumbprint`)
  }
  const publicKey = publicPartOf(jwk)
  let imported: ImportedKey
  try {
    const kid = jwk.kid ?? thumbprintOf(jwk, runtime)
    const local = await runtime.importKey(
      (external === undefined ? materialOf(jwk) : publicKey) as JsonObject,
      algorithm,
    )
    if (external === undefined && jwk.d !== undefined) await assertPair(local)
    const half = external === undefined ? local : externalSignatureKey(external, local, runtime)
    imported = {
      key: {
        kid,
        algorithm,
        ...(external === undefined && jwk.d !== undefined && { sealing: sealingKeyOf(jwk.d, runtime) }),
        sign: (data) => half.sign(data),
        verify: (data, signature) => half.verify(data, signature),
      },
      published: publishedKey(jwk, kid, algorithm),
      private: external !== undefined || jwk.d !== undefined,
    }
  } catch {
    // Without the cause, whose message could contain the private key.
    throw new TypeError(`${where} cannot be imported; is it a complete ${algorithm} key?`)
  }
  if (external !== undefined) await assertSigns(imported.key, where)
  return imported
}

/**
 * Generates a private key.
 *
 * @throws TypeError when the algorithm is unknown.
 */
export async function generateKey(algorithm: SigningAlgorithm): Promise<JWK> {
  if (!isSigningAlgorithm(algorithm)) {
    throw new TypeError(`keys: ${String(algorithm)} is not a supported algorithm; use one of ${algorithms.join(', ')}`)
  }
  return { ...materialOf((await generatePrivateKey(algorithm, minModulusBits)) as JWK), alg: algorithm }
}

/** Keys that the host has made. */
export type FixedKeys = readonly (JWK | ExternalKey)[]

async function refuse(): Promise<never> {
  throw new TypeError(
    'keys: the keys are set in the configuration; change them there, or remove them (in a program: use storedKeys()) to keep keys in the storage',
  )
}

/** Describes a key for the operator. A public key is `retiring`; a private key that does not sign is `next`. */
function infoOf({ key, private: isPrivate }: ImportedKey, signs: boolean, createdAt: number): KeyInfo {
  const state = signs ? 'current' : isPrivate ? 'next' : 'retiring'
  return { kid: key.kid, algorithm: key.algorithm, state, createdAt }
}

/**
 * Opens a key ring that does not change while the provider runs.
 *
 * @throws TypeError with a sentence that says which key cannot be used and why.
 */
export async function openFixedRing(configured: FixedKeys, runtime: Runtime): Promise<KeyRing> {
  if (!Array.isArray(configured) || configured.length === 0) {
    throw new TypeError(
      'keys must be storedKeys(), signingKeys() or a non-empty array of JWKs, of which the first one signs',
    )
  }
  const imported = await Promise.all(configured.map((key, index) => importKey(key, `keys[${index}]`, runtime)))
  const keys = new Map<string, RingKey>()
  const signers = new Map<SigningAlgorithm, RingKey>()
  for (const { key, private: isPrivate } of imported) {
    if (keys.has(key.kid)) throw new TypeError(`keys: two keys have the kid ${key.kid}`)
    keys.set(key.kid, key)
    if (isPrivate && !signers.has(key.algorithm)) signers.set(key.algorithm, key)
  }
  const [first] = imported
  if (!first?.private) throw new TypeError('keys[0] must be a private key, because it signs')
  const { key } = first
  const sealer = imported.find((each) => each.key.sealing !== undefined)?.key ?? key
  const jwks = { keys: imported.map(({ published }) => published) }
  const openedAt = runtime.now()
  const infos = imported.map((each) => infoOf(each, signers.get(each.key.algorithm) === each.key, openedAt))
  return {
    algorithms: [key.algorithm, ...[...signers.keys()].filter((algorithm) => algorithm !== key.algorithm)],
    signer: async (algorithm) => (algorithm === undefined ? key : signerOf(signers, algorithm)),
    sealer: async () => sealer,
    retrySecrets: imported.flatMap(({ key: { sealing } }) =>
      sealing === undefined ? [] : [retrySecretOf(sealing, runtime)],
    ),
    find: async (kid) => keys.get(kid),
    jwks: async () => jwks,
    operator: Object.freeze({ list: async () => infos, rotate: refuse, retire: refuse }),
    settled: async () => {},
  }
}
