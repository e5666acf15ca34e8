import { defineClientAuthentication } from '../../plugin/client-authentication.ts'
import { malformedId } from '../presented.ts'

/** `none`: a public client has only a `client_id`. @see wire contract, section 2 */
export const noneMethod = defineClientAuthentication({
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
