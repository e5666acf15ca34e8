/** The value of an `Authorization` header. */
export interface AuthorizationHeader {
  /** In lower case: it is compared without case. */
  readonly scheme: string
  /** What follows the spaces after the scheme; empty if nothing does, or if anything but spaces separates it. */
  readonly credentials: string
}

// Each part is matched once, at a fixed position, so that the time is linear.
const schemeForm = /^[\w!#$%&'*+.^`|~-]+(?=[\s,]|$)/u
const spacesForm = /^ +/u

/**
 * Splits an `Authorization` header at the spaces, of which there can be several. Returns `undefined` if it does not
 * begin with a scheme. The provider (`packages/core`) and APIs (`packages/resource-server`, which imports only `jose`)
 * have the same copy of this file: a header that one of them accepts, and the other refuses, is a defect.
 *
 * @see RFC 9110 section 11.4: `auth-scheme [ 1*SP ( token68 / #auth-param ) ]`
 */
export function parseAuthorization(value: string): AuthorizationHeader | undefined {
  const scheme = schemeForm.exec(value)?.[0]
  if (scheme === undefined) return undefined
  const rest = value.slice(scheme.length)
  const spaces = spacesForm.exec(rest)?.[0] ?? ''
  return { scheme: scheme.toLowerCase(), credentials: spaces === '' ? '' : rest.slice(spaces.length) }
}

/** RFC 6750 section 2.1. */
const tokenForm = /^[\w.~+/-]+=*$/u

/** Whether credentials can be an access token. Several headers arrive as one value with commas, which none contains. */
export const isToken = (credentials: string): boolean => tokenForm.test(credentials)
