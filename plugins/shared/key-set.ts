import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import * as v from 'valibot'

const maxKeys = 100
const text = v.pipe(v.string(), v.regex(/^[\w-]+$/u))
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
  // 2048 bits: RFC 7518 section 3.3.
  v.check((key) => key.kty !== 'RSA' || (v.is(text, key.n) && key.n.length >= 342), 'must have at least 2048 bits'),
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

/** Finds the key for a JWS header. Rejects with an error of jose if there is none, or more than one. */
export type KeySet = (header: JWTHeaderParameters) => Promise<CryptoKey>

export const keySetOf = ({ keys }: { readonly keys: readonly unknown[] }): KeySet =>
  createLocalJWKSet({ keys: keys as JWK[] })

/** A key set whose JWKs can be read. */
export type PublishedKeySet = KeySet & { jwks(): { readonly keys: readonly JWK[] } }

/** Returns the keys of a published set; `undefined` if it is not a JWK set. */
export function publishedKeySet(value: unknown): PublishedKeySet | undefined {
  const parsed = v.safeParse(publishedSchema, value)
  if (!parsed.success) return undefined
  return createLocalJWKSet({ keys: parsed.output.keys.filter((key) => v.is(keySchema, key)) as JWK[] })
}
