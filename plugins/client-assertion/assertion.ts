import type { CredentialFacts, OAuthError, PresentedCredentials, Refuse, RequestParameters } from '@grantry/core'
import * as v from 'valibot'
import type { KeySet } from '../shared/key-set.ts'
import { type JwtRules, unverifiedJwt, type Verification, verifiedJwt } from '../shared/verify-jwt.ts'

/** RFC 7523 section 2.2. */
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const payloadSchema = v.looseObject({ sub: v.pipe(v.string(), v.minLength(1)) })

/** An assertion that is not verified yet. */
export interface PresentedAssertion extends PresentedCredentials {
  readonly jwt: string
  readonly alg: string
  /** The URLs of the endpoint that was called. */
  readonly endpointUrls: readonly string[]
  readonly clientAddress: string | undefined
}

const notValid = (reason: string, refuse: Refuse): OAuthError =>
  refuse('invalid_client', 'Client authentication failed', reason)

/**
 * Reads the assertion of a request, without verifying it.
 *
 * @throws OAuthError `invalid_client` if the assertion is too long, malformed or of another type.
 */
export function presentedAssertion(
  { client_assertion: jwt, client_assertion_type: type }: RequestParameters,
  { endpointUrls, clientAddress }: CredentialFacts,
  refuse: Refuse,
): PresentedAssertion | undefined {
  if (jwt === undefined) return undefined
  if (type !== assertionType) throw notValid('type_unsupported', refuse)
  const { payload, alg, reason } = unverifiedJwt(jwt, ['client-authentication+jwt'])
  if (payload === undefined) throw notValid(reason, refuse)
  if (!v.is(payloadSchema, payload)) throw notValid('malformed', refuse)
  return { clientId: payload.sub, jwt, alg, endpointUrls, clientAddress }
}

export type VerifyOptions = Pick<JwtRules, 'algorithms' | 'currentDate' | 'clockTolerance'>

/** Verifies the signature, `iss`, `sub`, `exp` and `nbf` with a key set or a secret. */
export const verifiedAssertion = (
  { jwt, clientId }: PresentedAssertion,
  keys: KeySet | Uint8Array,
  options: VerifyOptions,
): Promise<Verification> =>
  verifiedJwt(jwt, keys, { ...options, issuer: clientId, subject: clientId, requiredClaims: ['aud', 'exp', 'jti'] })
