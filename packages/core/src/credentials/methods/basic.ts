import { defineClientAuthentication } from '../../plugin/client-authentication.ts'
import { formDecoded, parseBasic } from '../basic-header.ts'

/**
 * `client_secret_basic`: the id and the secret in the `Authorization` header. The pair is compared as it is (the seed's
 * rule) and, if that fails, form-decoded (RFC 6749 section 2.3.1).
 *
 * @see wire contract, section 2
 */
export const basicMethod = defineClientAuthentication({
  method: 'client_secret_basic',
  consumes: [],
  readsAuthorization: true,
  present(_parameters, request) {
    const authorization = request.header('authorization')
    return authorization === null ? undefined : parseBasic(authorization)
  },
  alternative: formDecoded,
})
