import { defineGrant, type Grant } from '@grantry/core'
import * as v from 'valibot'

/**
 * A client gets a token for itself: no user, no refresh token, no identity token, and for clients with a secret only.
 *
 * @see RFC 6749 section 4.4; wire contract, section 3
 */
export const clientCredentials = (): Grant =>
  defineGrant({
    grantType: 'client_credentials',
    params: v.object({}),
    handle: ({ scopes }) => ({ scopes }),
  })
