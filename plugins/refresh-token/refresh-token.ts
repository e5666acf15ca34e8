import { defineGrant, type Grant, OAuthError } from '@grantry/core'
import * as v from 'valibot'

const refusal = 'The refresh token is not valid'

// No length limit: the kit finds nothing for an overlong token, and `invalid_grant` makes the client start over.
const params = v.object({ refresh_token: v.string() })

const notValid = (reason: string): OAuthError =>
  new OAuthError('invalid_grant', refusal, { reason: `plugin:refresh_token:${reason}` })

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
      if (stored === undefined) throw notValid('token_unknown')
      if (stored.clientId !== client.clientId) throw notValid('client_mismatch')
      if (!requested.every((scope) => stored.scopes.includes(scope))) {
        throw new OAuthError('invalid_scope', 'The scope is not valid', {
          reason: 'plugin:refresh_token:scope_widened',
        })
      }
      return {
        issue: { identityToken: true },
        ...(requested.length > 0 && { scopes: requested }),
        ...(client.refreshToken.usage === 'reuse' ? { continues: stored } : { redeems: [stored] }),
      }
    },
  })
