import { isPossibleId } from '../directory/client-members.ts'
import { defineClientAuthentication } from '../parts/client-authentication.ts'
import { definePlugin } from '../parts/plugin.ts'
import { formDecoded, parseBasic } from './basic-header.ts'

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
