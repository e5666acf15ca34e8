import { OAuthError } from '../errors/oauth-error.ts'
import type { RequestParameters } from '../http/parameters.ts'

// RFC 6750 section 2.1: b64token.
const bearerForm = /^bearer ([A-Za-z0-9\-._~+/]+=*)$/iu
// RFC 9110 section 11.4: the scheme ends at the first white space.
const bearerScheme = /^bearer(?:\s|$)/iu

/** RFC 6750 section 3.1: without authentication information, the challenge has no error code. */
const unauthenticated = (reason: string): OAuthError =>
  new OAuthError('invalid_token', 'An access token is required', { reason, withoutCredentials: true })

/**
 * Returns the access token of a request: from the header or, for POST, from the form; never from the query.
 *
 * @see RFC 6750 section 2; wire contract, section 5
 */
export function readBearer(authorization: string | null, form: RequestParameters | undefined): string {
  const inForm = form?.access_token
  if (authorization === null && inForm === undefined) {
    throw unauthenticated('token_missing')
  }
  if (authorization !== null && inForm !== undefined) {
    throw new OAuthError('invalid_request', 'The access token is sent both in the header and in the form', {
      reason: 'several_credentials',
    })
  }
  if (authorization === null) return inForm ?? ''
  if (!bearerScheme.test(authorization)) throw unauthenticated('authorization_scheme_unsupported')
  const token = bearerForm.exec(authorization)?.[1]
  if (token === undefined) {
    throw new OAuthError('invalid_token', 'The access token is not valid', { reason: 'malformed_authorization' })
  }
  return token
}
