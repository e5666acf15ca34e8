import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose'
import { JWKSMultipleMatchingKeys } from 'jose/errors'
import { createLocalJWKSet } from 'jose/jwks/local'
import * as v from 'valibot'

/** More than any issuer publishes. */
const maxKeys = 50
const text = v.pipe(v.string(), v.regex(/^[\w-]+$/u))
/** Room for P-521. */
const coordinate = v.pipe(v.string(), v.maxLength(88))
const kid = v.optional(v.pipe(v.string(), v.maxLength(256)))
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const

const keyType = v.pipe(v.string('must be RSA, EC or OKP'), v.regex(/^(?:RSA|EC|OKP)$/u, 'must be RSA, EC or OKP'))

const keySchema = v.pipe(
  v.looseObject({ kty: keyType, kid }, 'must be a JWK'),
  v.check(
    (key) => privateMembers.every((member) => !Object.hasOwn(key, member)),
    'must be a public key, without private members',
  ),
  v.check(
    (key) =>
      [key.kty === 'RSA' ? 'n' : 'x', key.kty === 'RSA' ? 'e' : 'crv'].every((name) => v.is(v.string(), key[name])),
    'is incomplete',
  ),
  // 2048 bits: RFC 7518 section 3.3. At most 4096 bits, and an exponent of 32 bits: the time of a verification grows with
  // both, and anyone can make the provider verify a signature with the keys of a client.
  v.check(
    (key) => key.kty !== 'RSA' || (v.is(text, key.n) && key.n.length >= 342 && key.n.length <= 683),
    'must have 2048 to 4096 bits',
  ),
  v.check(
    (key) => key.kty !== 'RSA' || (v.is(text, key.e) && key.e.length <= 6),
    'must have an exponent of at most 32 bits',
  ),
  v.check(
    (key) => key.kty === 'RSA' || [key.x, key.y ?? ''].every((value) => v.is(coordinate, value)),
    'must have coordinates of at most 528 bits',
  ),
)

/** The keys of a client in its configuration. A key that cannot be used is an error. */
export const jwksSchema = v.object(
  {
    keys: v.pipe(
      v.array(keySchema, 'must be an array of JWKs'),
      v.minLength(1, 'must not be empty'),
      v.maxLength(maxKeys, `must have at most ${maxKeys} keys`),
    ),
  },
  'must be a JWK set, { keys: [...] }',
)

/** The keys that a client has published. Keys that cannot be used are ignored (RFC 7517 section 5). */
const publishedSchema = v.object({ keys: v.pipe(v.array(v.unknown()), v.maxLength(maxKeys)) })

/** The most keys that are tried for a JWT: that of the client before and after a rotation. */
const maxCandidates = 2

/**
 * Finds the keys for a JWS header: one, or two if they are published without ids. Rejects with an error of jose if there is
 * none, or more than two.
 */
export type KeySet = (header: JWTHeaderParameters) => Promise<readonly CryptoKey[]>

/**
 * The keys, which are imported when they are first needed. The result for each `kid` is remembered: keys that cannot be
 * imported would cost time in each request, and any caller can send such a request.
 */
export function keySetOf({ keys }: { readonly keys: readonly unknown[] }): KeySet {
  const find = createLocalJWKSet({ keys: keys as JWK[] })
  const ids = new Set([undefined, ...(keys as readonly JWK[]).map((key) => key.kid)])
  const known = new Map<string, Promise<readonly CryptoKey[]>>()

  async function search(header: JWTHeaderParameters): Promise<readonly CryptoKey[]> {
    try {
      return [await find(header)]
    } catch (error) {
      if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
      const fitting: CryptoKey[] = []
      for await (const key of error) {
        if (fitting.length === maxCandidates) throw error
        fitting.push(key)
      }
      return fitting
    }
  }

  return (header) => {
    const { alg, kid } = header
    // A sender can choose any other id; no key has it, so nothing is imported.
    if (!ids.has(kid)) return search(header)
    const name = JSON.stringify([alg, kid])
    const matching = known.get(name) ?? search(header)
    known.set(name, matching)
    return matching
  }
}

/** The keys that a client has published. */
export interface PublishedKeySet {
  readonly keys: readonly JWK[]
  readonly find: KeySet
}

/** Returns the keys of a published set; `undefined` if it is not a JWK set. */
export function publishedKeySet(value: unknown): PublishedKeySet | undefined {
  const parsed = v.safeParse(publishedSchema, value)
  if (!parsed.success) return undefined
  const keys = parsed.output.keys.filter((key) => v.is(keySchema, key)) as JWK[]
  return { keys, find: keySetOf({ keys }) }
}
