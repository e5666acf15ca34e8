import { isToken, parseAuthorization } from './authorization-header.ts'
import { type Refused, refused } from './refusal.ts'

/** The access token of a request. */
export interface Credentials {
  readonly scheme: 'Bearer' | 'DPoP'
  readonly token: string
}

/** Characters. Servers limit a header to 8 or 16 KB. */
export const maxLength = 16_384

/** Several headers arrive as one value with commas, which no token contains. */
const laterHeader = /,\s*(?:bearer|dpop)(?: |,|$)/iu

/**
 * Reads the access token from the Authorization header, the only place where it is accepted: RFC 9700 section 4.3.2
 * forbids the query.
 */
export function readCredentials(headers: Headers): Credentials | Refused {
  const value = headers.get('authorization') ?? ''
  const { scheme, credentials: token = '' } = parseAuthorization(value) ?? {}
  const isKnown = scheme === 'bearer' || scheme === 'dpop'
  // RFC 6750 section 3.1: a request with another scheme lacks credentials.
  if (!isKnown && !laterHeader.test(value)) return refused('credentials_missing')
  if (!isKnown || value.length > maxLength || !isToken(token)) return refused('credentials_malformed')
  return { scheme: scheme === 'dpop' ? 'DPoP' : 'Bearer', token }
}
