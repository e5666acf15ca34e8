import { defineGrantCheck } from '@grantry/core'
import * as v from 'valibot'
import { readSession } from './session-records.ts'

declare module '@grantry/core' {
  interface Demands {
    /** The session of the user must last. */
    session: { readonly sid: string }
  }
}

/**
 * Settles the demand that a session still exists, when an identity token is exchanged for an assertion for another
 * server: that server is not informed of a logout.
 */
export const sessionCheck = defineGrantCheck({
  settles: 'session',
  grantTypes: ['urn:ietf:params:oauth:grant-type:token-exchange'],
  params: v.object({}),
  async check({ demand }, kit) {
    if (demand === undefined || (await readSession(kit, demand.sid)) !== undefined) return undefined
    throw kit.refuse('invalid_request', 'The token cannot be exchanged', 'session_ended')
  },
})
