import { isPossibleId } from '../directory/client-members.ts'
import { parseAuthorization } from '../http/authorization-header.ts'
import { defineClientAuthentication } from '../parts/client-authentication.ts'
import { definePlugin } from '../parts/plugin.ts'
import { decodeBase64Text } from '../runtime.ts'

/** The id of a client, or the name of a scope, and its secret. */
interface CredentialPair {
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

/** Returns the reason why no client can have this id; `undefined` if one can. */
const malformedId = (clientId: string): string | undefined =>
  isPossibleId(clientId) ? undefined : 'credentials_too_long'

/**
 * `client_secret_basic`: the id and the secret in the `Authorization` header. The pair is compared as it is (the seed's
 * rule) and, if that fails, form-decoded (RFC 6749 section 2.3.1).
 *
 * @see wire contract, section 2
 */
const basicMethod = defineClientAuthentication({
  method: 'client_secret_basic',
  consumes: [],
  readsAuthorization: true,
  present(_parameters, request) {
    const authorization = request.header('authorization')
    return authorization === null ? undefined : parseBasic(authorization)
  },
  alternative: formDecoded,
})

/** `client_secret_post`: `client_id` and `client_secret` in the form. @see wire contract, section 2 */
const postMethod = defineClientAuthentication({
  method: 'client_secret_post',
  consumes: ['client_secret'],
  present({ client_id: clientId, client_secret: secret }) {
    if (clientId === undefined || secret === undefined) return undefined
    return { clientId, secret, malformed: malformedId(clientId) }
  },
})

/** `none`: a public client has only a `client_id`. @see wire contract, section 2 */
const noneMethod = defineClientAuthentication({
  method: 'none',
  consumes: [],
  implicit: true,
  unguessable: true,
  present({ client_id: clientId }) {
    return clientId === undefined ? undefined : { clientId, malformed: malformedId(clientId) }
  },
  accepts: (client) => client.public,
  verify: (_presented, client) => client?.public === true || { reason: 'secret_missing' },
})

/** The built-in authentication methods: a plugin like any other. */
export const builtInMethods = definePlugin('core', [basicMethod, postMethod, noneMethod])
