import { defineClientAuthentication } from '../../plugin/client-authentication.ts'
import { malformedId } from '../presented.ts'

/** `client_secret_post`: `client_id` and `client_secret` in the form. @see wire contract, section 2 */
export const postMethod = defineClientAuthentication({
  method: 'client_secret_post',
  consumes: ['client_secret'],
  present({ client_id: clientId, client_secret: secret }) {
    if (clientId === undefined || secret === undefined) return undefined
    return { clientId, secret, malformed: malformedId(clientId) }
  },
})
