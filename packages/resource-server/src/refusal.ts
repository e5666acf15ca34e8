/** How a client is refused: the status, and the error code of RFC 6750 section 3.1, RFC 9449 section 7.1 or RFC 9470 section 3. */
interface Kind {
  readonly status: 400 | 401 | 403 | 503
  /** Absent if the request had no credentials (RFC 6750 section 3.1). */
  readonly error?:
    | 'invalid_request'
    | 'invalid_token'
    | 'insufficient_scope'
    | 'insufficient_user_authentication'
    | 'invalid_dpop_proof'
    | 'use_dpop_nonce'
  readonly description?: string
}

const malformed: Kind = { status: 400, error: 'invalid_request', description: 'The Authorization header is malformed' }
const invalidToken: Kind = { status: 401, error: 'invalid_token', description: 'The access token is not valid' }
const wrongScheme: Kind = { ...invalidToken, description: 'The access token must be presented with another scheme' }
const notBound: Kind = { ...invalidToken, description: 'The access token must be bound to a key of the client' }
const wrongKey: Kind = { ...invalidToken, description: 'The client has not proved the key of the access token' }
const invalidProof: Kind = { status: 401, error: 'invalid_dpop_proof', description: 'The DPoP proof is not valid' }
const nonceRequired: Kind = {
  status: 401,
  error: 'use_dpop_nonce',
  description: 'The DPoP proof must contain the nonce of the header DPoP-Nonce',
}
const wrongAuthentication: Kind = {
  status: 401,
  error: 'insufficient_user_authentication',
  description: 'The user must authenticate again, or in another way',
}
// Not an error of the client, and no reason for it to request another token.
const unavailable: Kind = { status: 503, description: 'The access token cannot be validated at the moment' }

/**
 * The status, the error and the description for each reason. The client never receives the reason, so that a thief
 * learns little.
 */
export const kinds = {
  credentials_missing: { status: 401 },
  credentials_malformed: malformed,
  token_malformed: invalidToken,
  typ_unsupported: invalidToken,
  algorithm_not_allowed: invalidToken,
  key_unknown: invalidToken,
  signature_mismatch: invalidToken,
  issuer_mismatch: invalidToken,
  issuer_not_accepted: invalidToken,
  audience_mismatch: invalidToken,
  claim_mismatch: invalidToken,
  expired: { ...invalidToken, description: 'The access token has expired' },
  not_yet_valid: invalidToken,
  claims_malformed: invalidToken,
  token_inactive: invalidToken,
  token_type_unsupported: invalidToken,
  scheme_mismatch: wrongScheme,
  binding_missing: notBound,
  binding_unknown: wrongKey,
  binding_not_supported: wrongKey,
  certificate_missing: wrongKey,
  wrong_certificate: wrongKey,
  wrong_key: wrongKey,
  proof_missing: invalidProof,
  proof_malformed: invalidProof,
  proof_algorithm_not_allowed: invalidProof,
  htm_mismatch: invalidProof,
  htu_mismatch: invalidProof,
  ath_mismatch: invalidProof,
  proof_too_old: invalidProof,
  proof_in_future: invalidProof,
  proof_signature_mismatch: invalidProof,
  replayed: invalidProof,
  nonce_missing: nonceRequired,
  nonce_invalid: nonceRequired,
  issuer_check_unavailable: unavailable,
  certificate_unavailable: unavailable,
  replay_store_unavailable: unavailable,
  keys_unavailable: unavailable,
  introspection_unavailable: unavailable,
  acr_insufficient: wrongAuthentication,
  authentication_too_old: wrongAuthentication,
  scope_missing: { status: 403, error: 'insufficient_scope', description: 'The access token lacks a required scope' },
} as const satisfies Readonly<Record<string, Kind>>

/** Why a request was refused, for logs. */
export type Reason = keyof typeof kinds

/** A refusal inside the package. */
export interface Refused {
  readonly reason: Reason
  /** The error of a fetch or of a function of the host. */
  readonly cause?: unknown
}

export const isRefused = (value: object): value is Refused => Object.hasOwn(value, 'reason')

/** Returns the refusal for a reason. */
export const refused = (reason: Reason, cause?: unknown): Refused =>
  cause === undefined ? { reason } : { reason, cause }

export const kindOf = (reason: Reason): Kind => kinds[reason]
