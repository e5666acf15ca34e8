import type { FetchProblem } from '../shared/guarded-fetch.ts'

/** Why a sign-in at a provider failed, for events. Contains nothing that the provider has sent. */
export interface UpstreamFailure {
  readonly failure: string
}

export const failed = (failure: string): UpstreamFailure => ({ failure })

export const isFailure = (value: unknown): value is UpstreamFailure =>
  typeof value === 'object' && value !== null && 'failure' in value

const problemCode = 'UPSTREAM_FETCH'

/** Returns the error for a request to a provider without a response. */
export const fetchError = (problem: FetchProblem): Error =>
  Object.assign(new Error('The provider has not responded'), { code: problemCode, problem })

/** The codes of the library, as reasons. */
const reasons: Readonly<Record<string, string>> = {
  OAUTH_TIMEOUT: 'too_slow',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'response_malformed',
  OAUTH_RESPONSE_IS_NOT_JSON: 'response_malformed',
  OAUTH_PARSE_ERROR: 'response_malformed',
  OAUTH_INVALID_RESPONSE: 'response_invalid',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'claim_invalid',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'response_invalid',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'expired',
  OAUTH_UNSUPPORTED_OPERATION: 'unsupported',
  OAUTH_MISSING_SERVER_METADATA: 'metadata_incomplete',
  OAUTH_INVALID_SERVER_METADATA: 'metadata_incomplete',
}

/** The errors of an authorization response, of RFC 6749 section 4.1.2.1 and OpenID Connect Core section 3.1.2.6. */
const known: ReadonlySet<unknown> = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_response_type',
])

/** The errors of a token response, of RFC 6749 section 5.2. */
const knownAtToken: ReadonlySet<unknown> = new Set([
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
])

/** An endpoint of the provider at which the client authenticates. */
type AskedEndpoint = 'token_endpoint' | 'par_endpoint'

/** A challenge to the client means that its secret is wrong (RFC 6749 section 5.2). Others are about a token. */
const challengeReason = (challenges: unknown, endpoint: AskedEndpoint): string =>
  Array.isArray(challenges) &&
  challenges.some((challenge: { scheme?: unknown } | null) => challenge?.scheme === 'basic')
    ? `${endpoint}_invalid_client`
    : 'challenge_refused'

/** Returns the reason for an error of the library. Texts of the provider are not repeated: they can contain anything. */
export function reasonOf(thrown: unknown, endpoint: AskedEndpoint = 'token_endpoint'): string {
  let error = thrown
  for (let depth = 0; depth < 4 && typeof error === 'object' && error !== null; depth += 1) {
    const { code, problem, cause } = error as { code?: unknown; problem?: unknown; cause?: unknown }
    if (code === problemCode) return String(problem)
    if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') {
      const { error: named } = error as { error?: unknown }
      return known.has(named) ? `provider_${named}` : 'provider_error'
    }
    if (code === 'OAUTH_RESPONSE_BODY_ERROR') {
      const { error: named } = error as { error?: unknown }
      return knownAtToken.has(named) ? `${endpoint}_${named}` : `${endpoint}_error`
    }
    if (code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return challengeReason(cause, endpoint)
    const reason = typeof code === 'string' ? reasons[code] : undefined
    if (reason !== undefined) return reason
    error = cause
  }
  return 'failed'
}
