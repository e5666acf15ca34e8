import { decodeBase64, decodeUtf8 } from '../encoding.ts'

/** An id and its secret. */
export interface CredentialPair {
  readonly id: string
  readonly secret: string
}

// Room for an id of 100 and a secret of 512 characters, each form-encoded (at most nine bytes per character), in
// base64.
const maxHeaderLength = 8192

/**
 * Parses `Basic <base64(id:secret)>` (the seed, section 5; RFC 7617). Splits at the first colon and does not
 * form-decode. Returns `undefined` for anything else.
 */
export function parseBasic(authorization: string): CredentialPair | undefined {
  const space = authorization.indexOf(' ')
  if (space < 0 || authorization.slice(0, space).toLowerCase() !== 'basic') return undefined
  if (authorization.length > maxHeaderLength) return undefined
  const bytes = decodeBase64(authorization.slice(space + 1))
  const pair = bytes && decodeUtf8(bytes)
  const colon = pair?.indexOf(':') ?? -1
  if (pair === undefined || colon < 0) return undefined
  return { id: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}

/**
 * Form-decodes a pair, for clients that follow RFC 6749 section 2.3.1 and form-encode the id and the secret
 * (`my%2Dclient`). Returns `undefined` if the pair contains no escapes or malformed ones.
 */
export function formDecoded({ id, secret }: CredentialPair): CredentialPair | undefined {
  if (!/[%+]/u.test(id) && !/[%+]/u.test(secret)) return undefined
  try {
    return { id: decodeURIComponent(id.replaceAll('+', ' ')), secret: decodeURIComponent(secret.replaceAll('+', ' ')) }
  } catch {
    return undefined
  }
}
