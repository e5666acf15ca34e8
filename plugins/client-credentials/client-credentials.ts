import { defineGrant, type Grant } from '@grantry/core'
import * as v from 'valibot'

/**
 * The client credentials grant: an access token without a user. No refresh token and no identity token; public clients
 * cannot use it.
 *
 * @see RFC 6749 section 4.4; wire contract, section 3
 */
export const clientCredentials = (): Grant =>
  defineGrant({
    grantType: 'client_credentials',
    params: v.object({}),
    withoutUser: true,
    handle: ({ scopes }) => ({ scopes }),
  })
