import { decodeBase64Text } from '../encoding.ts'
import { parseAuthorization } from '../http/authorization-header.ts'

/** The id of a client, or the name of a scope, and its secret. */
export interface CredentialPair {
  readonly clientId: string
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
  if (authorization.length > maxHeaderLength) return undefined
  const parsed = parseAuthorization(authorization)
  if (parsed?.scheme !== 'basic') return undefined
  const pair = decodeBase64Text(parsed.credentials)
  const colon = pair?.indexOf(':') ?? -1
  if (pair === undefined || colon < 0) return undefined
  return { clientId: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

/**
 * Form-decodes a pair, for clients that follow RFC 6749 section 2.3.1 and form-encode the id and the secret
 * (`my%2Dclient`). Returns `undefined` if the pair contains no escapes or malformed ones.
 */
export function formDecoded({ clientId, secret }: CredentialPair): CredentialPair | undefined {
  if (!/[%+]/u.test(clientId) && !/[%+]/u.test(secret)) return undefined
  try {
    return { clientId: decoded(clientId), secret: decoded(secret) }
  } catch {
    return undefined
  }
}
