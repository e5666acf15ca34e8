import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import { decodeBase64url, utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import type { Runtime, SignatureKey, SigningAlgorithm } from '../runtime.ts'
import { algorithmOf, algorithms, isSigningAlgorithm } from './algorithm.ts'

/** A key that was imported, once, at start. */
export interface RingKey extends SignatureKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
}

/** The keys of this provider. */
export interface KeyRing {
  /** The one that signs; the others only verify what they signed earlier, or will. */
  readonly current: RingKey
  find(kid: string): RingKey | undefined
  readonly algorithms: readonly SigningAlgorithm[]
  /** RFC 7517: public members only. */
  readonly jwks: { readonly keys: readonly JWK[] }
}

/** Asks for a key to be generated at start. Tokens then die with the process: for tests and demonstrations. */
export interface GeneratedKeys {
  readonly generate: SigningAlgorithm
}

/** Where the signing keys come from. The first JWK signs; the others are published and verify: the next key, and retired ones (public). */
export type KeySource = GeneratedKeys | readonly JWK[]

/**
 * Keys that are generated at start.
 * @param options.algorithm default `ES256`
 */
export const signingKeys = (options: { readonly algorithm?: SigningAlgorithm } = {}): GeneratedKeys => ({
  generate: options.algorithm ?? 'ES256',
})

const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const
const smallestModulus = 2048
const probe = utf8('grantry')

const partOf = (jwk: JWK, names: readonly (keyof JWK)[]): JWK =>
  Object.fromEntries(names.filter((name) => jwk[name] !== undefined).map((name) => [name, jwk[name]])) as JWK

/** Leading zeros do not count. */
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

interface Imported {
  readonly key: RingKey
  readonly published: JWK
  readonly private: boolean
}

async function importKey(jwk: JWK, where: string, runtime: Runtime): Promise<Imported> {
  if (typeof jwk !== 'object' || jwk === null) throw new TypeError(`${where} must be a JWK`)
  const algorithm = algorithmOf(jwk)
  if (algorithm === undefined) {
    throw new TypeError(`${where} must be a key for ${algorithms.join(', ')}; it has ${described(jwk)}`)
  }
  if (jwk.kty === 'RSA' && modulusBits(jwk) < smallestModulus) {
    throw new TypeError(`${where} is an RSA key of under ${smallestModulus} bits; make a larger one`)
  }
  if (jwk.kid !== undefined && (typeof jwk.kid !== 'string' || jwk.kid === '')) {
    throw new TypeError(`${where} has a kid that is no text; leave it out, and its thumbprint is taken`)
  }
  const shown = partOf(jwk, publicMembers)
  try {
    const kid = jwk.kid ?? (await calculateJwkThumbprint(shown))
    const material = partOf(jwk, [...publicMembers, ...privateMembers]) as JsonObject
    const key = await runtime.importKey(material, algorithm)
    // Two halves that do not belong together would sign tokens that nobody can verify.
    if (jwk.d !== undefined && !(await key.verify(probe, new Uint8Array(await key.sign(probe)))))
      throw new TypeError('no pair')
    return {
      key: { kid, algorithm, sign: (data) => key.sign(data), verify: (data, signature) => key.verify(data, signature) },
      published: { ...shown, kid, alg: algorithm, use: 'sig' },
      private: jwk.d !== undefined,
    }
  } catch {
    // Without the cause: a parser's message could quote the private key.
    throw new TypeError(`${where} cannot be imported; is it a complete ${algorithm} key?`)
  }
}

async function generate(algorithm: SigningAlgorithm): Promise<readonly JWK[]> {
  if (!isSigningAlgorithm(algorithm)) {
    throw new TypeError(`keys: ${String(algorithm)} is no signing algorithm; known are ${algorithms.join(', ')}`)
  }
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return [{ ...(await exportJWK(privateKey)), alg: algorithm }]
}

/** @throws TypeError with a sentence that names the key that cannot be used and why. */
export async function openKeyRing(source: KeySource, runtime: Runtime): Promise<KeyRing> {
  const jwks = 'generate' in source ? await generate(source.generate) : source
  if (!Array.isArray(jwks) || jwks.length === 0) {
    throw new TypeError('keys must be signingKeys() or an array of JWKs; the first one signs')
  }
  const imported = await Promise.all(jwks.map((jwk, index) => importKey(jwk, `keys[${index}]`, runtime)))
  const keys = new Map<string, RingKey>()
  for (const { key } of imported) {
    if (keys.has(key.kid)) throw new TypeError(`keys: two keys have the kid ${key.kid}`)
    keys.set(key.kid, key)
  }
  const [first] = imported
  if (!first?.private) throw new TypeError('keys[0] must be a private key: it signs')
  return {
    current: first.key,
    find: (kid) => keys.get(kid),
    algorithms: [...new Set([...keys.values()].map(({ algorithm }) => algorithm))],
    jwks: { keys: imported.map(({ published }) => published) },
  }
}
