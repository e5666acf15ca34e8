import type { Kit } from '@grantry/core'
import type { CryptoKey } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { decodeJwt } from 'jose/jwt/decode'
import { jwtVerify } from 'jose/jwt/verify'
import { importJWK } from 'jose/key/import'
import * as v from 'valibot'

/** Characters. Room for a key of RSA with 4096 bits. */
const maxLength = 4096

// Only one proof: several headers arrive as one value with commas (RFC 9449 section 4.3, check 1).
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/u

const text = (maxLength: number) => v.pipe(v.string(), v.regex(/^[\w-]+$/u), v.maxLength(maxLength))

// RFC 7638 section 3.2: the required members, in the order of the thumbprint. At most 4096 bits, and an exponent of 32
// bits: the time of a verification grows with both.
const keySchema = v.variant('kty', [
  v.object({ crv: v.literal('P-256'), kty: v.literal('EC'), x: text(43), y: text(43) }),
  v.object({ crv: v.literal('Ed25519'), kty: v.literal('OKP'), x: text(43) }),
  v.object({ e: text(6), kty: v.literal('RSA'), n: text(683) }),
])

/** Members of private and symmetric keys. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const

const headerSchema = v.object({
  typ: v.pipe(v.string(), v.toLowerCase(), v.literal('dpop+jwt')),
  alg: v.string(),
  jwk: v.pipe(
    v.looseObject({}),
    v.check((jwk) => privateMembers.every((member) => !Object.hasOwn(jwk, member))),
    keySchema,
  ),
})

const claimsSchema = v.object({
  jti: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  htm: v.string(),
  htu: v.pipe(v.string(), v.maxLength(2048)),
  iat: v.number(),
  ath: v.optional(v.string()),
  nonce: v.optional(v.pipe(v.string(), v.maxLength(500))),
})

/** A proof whose signature has not been verified yet. */
export interface UnverifiedProof {
  readonly jwt: string
  readonly alg: string
  readonly jwk: v.InferOutput<typeof keySchema>
  /** RFC 7638. */
  readonly thumbprint: string
  readonly claims: v.InferOutput<typeof claimsSchema>
}

/** Reads a proof without verifying it. Returns `undefined` if it is malformed. */
export function readProof(jwt: string, kit: Kit): UnverifiedProof | undefined {
  if (jwt.length > maxLength || !compactForm.test(jwt)) return undefined
  try {
    const { alg, jwk } = v.parse(headerSchema, decodeProtectedHeader(jwt))
    const claims = v.parse(claimsSchema, decodeJwt(jwt))
    return { jwt, alg, jwk, thumbprint: kit.sha256(JSON.stringify(jwk)), claims }
  } catch {
    return undefined
  }
}

/** Returns a URI without query and fragment, normalized (RFC 3986 sections 6.2.2 and 6.2.3). */
function targetOf(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined
  const { origin, pathname } = new URL(uri)
  return origin + pathname
}

/** Whether two URIs have the same scheme, host, port and path (RFC 9449 section 4.3, check 9). */
export const isSameTarget = (left: string, right: string): boolean =>
  left === right || (targetOf(left) !== undefined && targetOf(left) === targetOf(right))

const maxKeys = 1000

/** Verifies the signature of a proof, and `nbf` and `exp` if it has them. */
export type VerifySignature = (
  proof: UnverifiedProof,
  options: { now: number; clockTolerance: number },
) => Promise<boolean>

/** Imported keys are kept, because a client uses the same key for each request. Only keys that have signed a proof. */
export function createVerifySignature(): VerifySignature {
  const known = new Map<string, CryptoKey>()
  return async ({ jwt, alg, jwk, thumbprint }, { now, clockTolerance }) => {
    const id = `${alg} ${thumbprint}`
    try {
      const key = known.get(id) ?? ((await importJWK(jwk, alg)) as CryptoKey)
      await jwtVerify(jwt, key, { algorithms: [alg], currentDate: new Date(now * 1000), clockTolerance })
      // The first key is the one that was used least recently.
      known.delete(id)
      known.set(id, key)
      const [oldest = id] = known.keys()
      if (known.size > maxKeys) known.delete(oldest)
      return true
    } catch {
      return false
    }
  }
}
