import { parseExactJson } from '@grantry/core'
import type { JWTHeaderParameters, JWTPayload, JWTVerifyOptions } from 'jose'
import { decode } from 'jose/base64url'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { JOSEError, JWTClaimValidationFailed } from 'jose/errors'
import { decodeJwt } from 'jose/jwt/decode'
import { jwtVerify } from 'jose/jwt/verify'
import * as v from 'valibot'
import type { KeySet } from './key-set.ts'

/** Algorithms of asymmetric keys. `none` and the algorithms of a shared secret are not among them. */
export const signatureAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
  'EdDSA',
  'Ed25519',
] as const

export const algorithmSchema = v.picklist(signatureAlgorithms, `must be one of ${signatureAlgorithms.join(', ')}`)

/** The schema of a list of allowed algorithms. */
export const algorithmsSchema = v.optional(
  v.pipe(v.array(algorithmSchema, 'must be an array of algorithms'), v.minLength(1, 'must not be empty'), v.readonly()),
  ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'],
)

/** Room for a header with a chain of certificates. */
export const maxJwtLength = 8192

const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/u

const headerSchema = v.looseObject({
  alg: v.pipe(v.string(), v.maxLength(20)),
  kid: v.optional(v.pipe(v.string(), v.maxLength(256))),
  typ: v.optional(v.string()),
})

/** A JWT, or the reason why it is refused. */
export type Verification<J = { readonly payload: JWTPayload }> =
  | (J & { readonly reason?: undefined })
  | ({ readonly [M in keyof J]?: undefined } & { readonly reason: string })

/** The rules for a signature and for claims. */
export type JwtRules = JWTVerifyOptions &
  Required<Pick<JWTVerifyOptions, 'algorithms' | 'currentDate' | 'clockTolerance'>>

const reasons: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm_not_allowed',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature_mismatch',
  ERR_JWKS_NO_MATCHING_KEY: 'key_unknown',
  // More keys fit than the plugin tries.
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'key_ambiguous',
}

/** The reason for events. An error that is not one of jose comes from a key that cannot be imported. */
function reasonOf(error: unknown): string {
  if (error instanceof JWTClaimValidationFailed) return `${error.claim}_invalid`
  if (!(error instanceof JOSEError)) return 'key_unusable'
  return reasons[error.code] ?? 'malformed'
}

/** Returns the header of a JWT that is not verified, with `typ` in lower case and without `application/`. */
function headerOf(jwt: string): { readonly alg: string; readonly typ: string | undefined } {
  const { alg, typ } = v.parse(headerSchema, decodeProtectedHeader(jwt))
  return { alg, typ: typ?.toLowerCase().replace(/^application\//u, '') }
}

/** Returns `typ` of a JWT that is not verified, in lower case and without `application/`; `undefined` if it has none. */
export function typeOf(jwt: string): string | undefined {
  if (jwt.length > maxJwtLength || !compactForm.test(jwt)) return undefined
  try {
    return headerOf(jwt).typ
  } catch {
    return undefined
  }
}

/**
 * Reads a JWT without verifying it. Refuses one that is too long, malformed, or explicitly of another type, such as
 * `dpop+jwt` (RFC 8725 section 3.11).
 *
 * @param types the accepted values of `typ`, besides `JWT` and none, in lower case
 */
export function unverifiedJwt(
  jwt: string,
  types: readonly string[],
): Verification<{ readonly payload: JWTPayload; readonly alg: string; readonly typ: string }> {
  if (jwt.length > maxJwtLength) return { reason: 'too_long' }
  if (!compactForm.test(jwt)) return { reason: 'malformed' }
  try {
    const { alg, typ = 'jwt' } = headerOf(jwt)
    if (typ !== 'jwt' && !types.includes(typ)) return { reason: 'typ_unsupported' }
    return { alg, typ, payload: decodeJwt(jwt) }
  } catch {
    return { reason: 'malformed' }
  }
}

const timeClaims = ['exp', 'iat', 'nbf', 'auth_time', 'updated_at'] as const

/**
 * Returns the payload with the numbers that JSON does not keep exactly as texts: two users with neighbouring numbers of 64
 * bits remain two. A time with such a number has no meaning.
 */
function exactly(jwt: string, payload: JWTPayload): Verification {
  const [, encoded = ''] = jwt.split('.')
  const exact = parseExactJson(new TextDecoder().decode(decode(encoded))) as JWTPayload
  const isRounded = (claim: string): boolean => typeof payload[claim] === 'number' && typeof exact[claim] !== 'number'
  return timeClaims.some(isRounded) ? { reason: 'malformed' } : { payload: exact }
}

/** Verifies the signature and the claims of a JWT with a key set or a secret. */
export async function verifiedJwt(jwt: string, keys: KeySet | Uint8Array, rules: JwtRules): Promise<Verification> {
  try {
    const header = decodeProtectedHeader(jwt) as JWTHeaderParameters
    if (!rules.algorithms.includes(header.alg)) return { reason: 'algorithm_not_allowed' }
    let outcome: Verification = { reason: 'key_unknown' }
    for (const key of keys instanceof Uint8Array ? [keys] : await keys(header)) {
      outcome = await jwtVerify(jwt, key, rules).catch((error: unknown) => ({ reason: reasonOf(error) }))
      if (outcome.payload !== undefined) return exactly(jwt, outcome.payload)
      if (outcome.reason !== 'signature_mismatch') return outcome
    }
    return outcome
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}
