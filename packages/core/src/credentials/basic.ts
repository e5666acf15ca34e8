import { decodeBase64, decodeUtf8 } from '../encoding.ts'

/** An identifier with what shall prove it. */
export interface CredentialPair {
  readonly id: string
  readonly secret: string
}

// 100 characters of id and 512 of secret, each at most nine ASCII bytes when form-encoded, and base64 on top of it.
const longestCredentials = 8192

/**
 * Reads `Basic <base64(id:secret)>` (the seed, section 5; RFC 7617). The pair is raw: split at the first colon, not form-decoded.
 * `undefined` for everything else.
 */
export function parseBasic(authorization: string): CredentialPair | undefined {
  const space = authorization.indexOf(' ')
  if (space < 0 || authorization.slice(0, space).toLowerCase() !== 'basic') return undefined
  if (authorization.length > longestCredentials) return undefined
  const bytes = decodeBase64(authorization.slice(space + 1))
  const pair = bytes && decodeUtf8(bytes)
  const colon = pair?.indexOf(':') ?? -1
  if (pair === undefined || colon < 0) return undefined
  return { id: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}

/**
 * The pair as clients mean it that follow RFC 6749 section 2.3.1 and form-encode each half (`my%2Dclient`). `undefined` where that
 * would change nothing.
 */
export function formDecoded({ id, secret }: CredentialPair): CredentialPair | undefined {
  if (!/[%+]/u.test(id) && !/[%+]/u.test(secret)) return undefined
  try {
    return { id: decodeURIComponent(id.replaceAll('+', ' ')), secret: decodeURIComponent(secret.replaceAll('+', ' ')) }
  } catch {
    return undefined
  }
}
