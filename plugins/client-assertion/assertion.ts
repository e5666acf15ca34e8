import { OAuthError, type PresentedCredentials, type RequestParameters } from '@grantry/core'
import type { CryptoKey, JWTHeaderParameters, JWTPayload, JWTVerifyOptions } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { JOSEError, JWKSMultipleMatchingKeys, JWTClaimValidationFailed } from 'jose/errors'
import { decodeJwt } from 'jose/jwt/decode'
import { jwtVerify } from 'jose/jwt/verify'
import * as v from 'valibot'
import type { KeySet } from './key-set.ts'

/** RFC 7523 section 2.2. */
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Room for a header with a chain of certificates. */
const maxLength = 8192
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/u

// Explicit types of other JWTs, such as `dpop+jwt`, are refused: RFC 8725 section 3.11.
const headerTypes: readonly unknown[] = [undefined, 'jwt', 'client-authentication+jwt']

const headerSchema = v.looseObject({
  alg: v.pipe(v.string(), v.maxLength(20)),
  kid: v.optional(v.pipe(v.string(), v.maxLength(256))),
  typ: v.optional(v.string()),
})
const payloadSchema = v.looseObject({ sub: v.pipe(v.string(), v.minLength(1)) })

/** An assertion that is not verified yet. */
export interface PresentedAssertion extends PresentedCredentials {
  readonly jwt: string
  readonly alg: string
}

const refuse = (reason: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', { reason: `plugin:client-assertion:${reason}` })

/**
 * Reads the assertion of a request, without verifying it.
 *
 * @throws OAuthError `invalid_client` if the assertion is too long, malformed or of another type.
 */
export function presentedAssertion({
  client_assertion: jwt,
  client_assertion_type: type,
}: RequestParameters): PresentedAssertion | undefined {
  if (jwt === undefined) return undefined
  if (type !== assertionType) throw refuse('type_unsupported')
  if (jwt.length > maxLength) throw refuse('too_long')
  if (!compactForm.test(jwt)) throw refuse('malformed')
  try {
    const { alg, typ } = v.parse(headerSchema, decodeProtectedHeader(jwt))
    const { sub } = v.parse(payloadSchema, decodeJwt(jwt))
    if (!headerTypes.includes(typ?.toLowerCase().replace(/^application\//u, ''))) throw refuse('typ_unsupported')
    return { clientId: sub, jwt, alg }
  } catch (error) {
    throw error instanceof OAuthError ? error : refuse('malformed')
  }
}

export type VerifyOptions = Required<Pick<JWTVerifyOptions, 'algorithms' | 'currentDate' | 'clockTolerance'>>

/** The verified content of an assertion, or the reason why it is refused. */
export type Outcome =
  | { readonly payload: JWTPayload; readonly reason?: undefined }
  | { readonly payload?: undefined; readonly reason: string }

const reasons: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm_not_allowed',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature_mismatch',
  ERR_JWKS_NO_MATCHING_KEY: 'key_unknown',
}

/** The reason for events. An error that is not one of jose comes from a key that cannot be imported. */
function reasonOf(error: unknown): string {
  if (error instanceof JWTClaimValidationFailed) return `${error.claim}_invalid`
  if (!(error instanceof JOSEError)) return 'key_unusable'
  return reasons[error.code] ?? 'malformed'
}

/** The key for a header, or every key that fits. A client may publish several keys without ids. */
async function keysFor(keys: KeySet, header: JWTHeaderParameters): Promise<readonly CryptoKey[]> {
  try {
    return [await keys(header)]
  } catch (error) {
    if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
    const fitting: CryptoKey[] = []
    for await (const key of error) fitting.push(key)
    return fitting
  }
}

/** Verifies the signature, `iss`, `sub`, `exp` and `nbf` with a key set or a secret. */
export async function verifiedAssertion(
  { jwt, clientId }: PresentedAssertion,
  keys: KeySet | Uint8Array,
  options: VerifyOptions,
): Promise<Outcome> {
  const rules = { ...options, issuer: clientId, subject: clientId, requiredClaims: ['aud', 'exp', 'jti'] }
  try {
    const header = decodeProtectedHeader(jwt) as JWTHeaderParameters
    const candidates = keys instanceof Uint8Array ? [keys] : await keysFor(keys, header)
    let outcome: Outcome = { reason: 'key_unknown' }
    for (const key of candidates) {
      outcome = await jwtVerify(jwt, key, rules).catch((error: unknown) => ({ reason: reasonOf(error) }))
      if (outcome.reason !== 'signature_mismatch') return outcome
    }
    return outcome
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}
