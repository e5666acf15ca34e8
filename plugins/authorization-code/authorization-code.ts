import { authorizations, defineGrant, type Grant, redirectUriDetail } from '@grantry/core'
import * as v from 'valibot'

// The same description for unknown, expired, foreign and spent codes: a caller learns nothing about a code.
const refusal = 'The authorization code is not valid'

// `code` has no length limit: the kit finds nothing for an overlong one, and `invalid_grant` makes the client start
// over.
const params = v.object({
  code: v.string(),
  redirect_uri: v.optional(v.pipe(v.string(), v.maxLength(2000))),
})

/**
 * The authorization code grant: exchanges a code from the login page for tokens. The code is spent only after all
 * checks, so a wrong client or a wrong `redirect_uri` does not spend it.
 *
 * @see RFC 6749 section 4.1.3; wire contract, section 3
 */
export const authorizationCode = (): Grant<typeof params> =>
  defineGrant({
    grantType: 'authorization_code',
    params,
    refusal,
    scope: 'ignored',
    publicClients: true,
    requires: [authorizations],
    stored: { kind: 'code', redirect: true, publicClientsDemand: 'proof_key' },
    async handle({ client, params: { code, redirect_uri } }, kit) {
      const stored = await kit.findGrant('code', code)
      // RFC 6749 section 4.1.3: as in the authorization request.
      const isOptional = stored !== undefined && stored.redirectUri === undefined
      if (redirect_uri === undefined && !isOptional) {
        throw kit.refuse('invalid_request', 'The parameter redirect_uri is required', 'redirect_uri_missing')
      }
      if (stored === undefined) throw kit.refuse('invalid_grant', refusal, 'code_unknown')
      kit.assertClient(stored.clientId)
      const isMatching = isOptional
        ? redirect_uri === undefined || client.redirectUris.includes(redirect_uri)
        : stored.redirectUri === redirect_uri
      if (!isMatching) {
        const expected = stored.redirectUri === undefined ? client.redirectUris : [stored.redirectUri]
        const detail = redirectUriDetail(redirect_uri ?? '', expected, 'the code is for')
        throw kit.refuse('invalid_grant', refusal, 'redirect_uri_mismatch', { detail })
      }
      return { redeems: [stored], issue: { identityToken: true } }
    },
  })
