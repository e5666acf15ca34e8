import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { decodeBase64url } from '../encoding.ts'
import { algorithmOf, algorithms, isSigningAlgorithm, type SigningAlgorithm } from './algorithm.ts'

/** A key that was imported, once, at start. */
export interface RingKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly publicKey: CryptoKey
  /** Absent: it only verifies what it signed earlier. */
  readonly privateKey: CryptoKey | undefined
}

/** The keys of this provider. */
export interface KeyRing {
  readonly current: RingKey & { readonly privateKey: CryptoKey }
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
const smallestModulus = 2048

const publicPart = (jwk: JWK): JWK =>
  Object.fromEntries(publicMembers.filter((name) => jwk[name] !== undefined).map((name) => [name, jwk[name]])) as JWK

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

async function importKey(jwk: JWK, where: string): Promise<{ key: RingKey; published: JWK }> {
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
  const shown = publicPart(jwk)
  try {
    const kid = jwk.kid ?? (await calculateJwkThumbprint(shown))
    const publicKey = (await importJWK(shown, algorithm)) as CryptoKey
    const privateKey =
      jwk.d === undefined ? undefined : ((await importJWK({ ...jwk, ext: false }, algorithm)) as CryptoKey)
    return {
      key: { kid, algorithm, publicKey, privateKey },
      published: { ...shown, kid, alg: algorithm, use: 'sig' },
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
export async function openKeyRing(source: KeySource): Promise<KeyRing> {
  const jwks = 'generate' in source ? await generate(source.generate) : source
  if (!Array.isArray(jwks) || jwks.length === 0) {
    throw new TypeError('keys must be signingKeys() or an array of JWKs; the first one signs')
  }
  const imported = await Promise.all(jwks.map((jwk, index) => importKey(jwk, `keys[${index}]`)))
  const keys = new Map<string, RingKey>()
  for (const { key } of imported) {
    if (keys.has(key.kid)) throw new TypeError(`keys: two keys have the kid ${key.kid}`)
    keys.set(key.kid, key)
  }
  const [first] = imported
  if (first?.key.privateKey === undefined) throw new TypeError('keys[0] must be a private key: it signs')
  return {
    current: { ...first.key, privateKey: first.key.privateKey },
    find: (kid) => keys.get(kid),
    algorithms: [...new Set([...keys.values()].map(({ algorithm }) => algorithm))],
    jwks: { keys: imported.map(({ published }) => published) },
  }
}
