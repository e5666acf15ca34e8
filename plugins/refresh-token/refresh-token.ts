import { defineGrant, type Grant } from '@grantry/core'
import * as v from 'valibot'

const refusal = 'The refresh token is not valid'

// No length limit: the kit finds nothing for an overlong token, and `invalid_grant` makes the client start over.
const params = v.object({ refresh_token: v.string() })

/**
 * The refresh token grant: exchanges a refresh token for new tokens. The refresh token is spent and replaced, unless
 * the client reuses refresh tokens.
 *
 * @see RFC 6749 section 6; RFC 9700 section 4.14; wire contract, section 3
 */
export const refreshToken = (): Grant<typeof params> =>
  defineGrant({
    grantType: 'refresh_token',
    params,
    refusal,
    scope: 'optional',
    publicClients: true,
    stored: { kind: 'refresh' },
    async handle({ client, params: { refresh_token }, scopes: requested }, kit) {
      const stored = await kit.findGrant('refresh', refresh_token)
      if (stored === undefined) throw kit.refuse('invalid_grant', refusal, 'token_unknown')
      kit.assertClient(stored.clientId)
      if (!requested.every((scope) => stored.scopes.includes(scope))) {
        throw kit.refuse('invalid_scope', 'The scope is not valid', 'scope_widened')
      }
      return {
        issue: { identityToken: true },
        ...(requested.length > 0 && { scopes: requested }),
        ...(client.refreshToken.usage === 'reuse' ? { continues: stored } : { redeems: [stored] }),
      }
    },
  })
