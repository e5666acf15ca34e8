import { type Refused, refused } from './refusal.ts'

/** The access token of a request. */
export interface Credentials {
  readonly scheme: 'Bearer' | 'DPoP'
  readonly token: string
}

/** Characters. Servers limit a header to 8 or 16 KB. */
const maxLength = 16_384

/** RFC 6750 section 2.1. */
const form = /^(bearer|dpop) +([\w.~+/-]+=*)$/iu

/**
 * Reads the access token from the Authorization header, the only place where it is accepted: RFC 9700 section 4.3.2
 * forbids the query. Several headers arrive as one value with commas, which no token contains.
 */
export function readCredentials(headers: Headers): Credentials | Refused {
  const value = headers.get('authorization')
  // RFC 6750 section 3.1: a request with another scheme lacks credentials.
  if (value === null || !/(?:^|,\s*)(?:bearer|dpop)(?: |,|$)/iu.test(value)) return refused('credentials_missing')
  const [, scheme = '', token = ''] = value.length > maxLength ? [] : (form.exec(value.trim()) ?? [])
  if (token === '') return refused('credentials_malformed')
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token }
}
