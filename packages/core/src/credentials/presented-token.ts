import { OAuthError } from '../errors/oauth-error.ts'
import { isToken, parseAuthorization } from '../http/authorization-header.ts'
import type { RequestParameters } from '../http/parameters.ts'

/** An access token, with the scheme that the request uses for it, spelled as in `schemes`. */
export interface PresentedToken {
  readonly token: string
  readonly scheme: string
}

/** RFC 6750 section 3.1: without authentication information, the challenge has no error code. */
const unauthenticated = (reason: string): OAuthError =>
  new OAuthError('invalid_token', 'An access token is required', { reason, withoutCredentials: true })

/**
 * Returns the access token of a request: from the header or, for POST, from the form; never from the query.
 *
 * @param schemes the schemes of access tokens, `Bearer` first
 * @see RFC 6750 section 2; RFC 9449 section 7.1; wire contract, section 5
 */
export function readAccessToken(
  authorization: string | null,
  form: RequestParameters | undefined,
  schemes: readonly [string, ...string[]],
): PresentedToken {
  const inForm = form?.access_token
  if (authorization === null && inForm === undefined) {
    throw unauthenticated('token_missing')
  }
  if (authorization !== null && inForm !== undefined) {
    throw new OAuthError('invalid_request', 'The access token is sent both in the header and in the form', {
      reason: 'several_credentials',
    })
  }
  if (authorization === null) return { token: inForm ?? '', scheme: schemes[0] }
  const parsed = parseAuthorization(authorization)
  const scheme = schemes.find((known) => known.toLowerCase() === parsed?.scheme)
  if (parsed === undefined || scheme === undefined) throw unauthenticated('authorization_scheme_unsupported')
  const { credentials: token } = parsed
  if (!isToken(token)) {
    throw new OAuthError('invalid_token', 'The access token is not valid', { reason: 'malformed_authorization' })
  }
  return { token, scheme }
}

/** Returns the token of the header that a plugin verifies: no other scheme is possible, and it is nowhere else. */
export const readBearer = (authorization: string | null): string | undefined =>
  authorization === null ? undefined : readAccessToken(authorization, undefined, ['Bearer']).token
