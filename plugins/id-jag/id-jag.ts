import { assertions, defineFields, definePlugin, type Plugin, parseConfiguration } from '@grantry/core'
import { acceptingGrant } from './accept.ts'
import { type IdJagOptions, idJagSchema } from './id-jag-options.ts'
import { issuingGrant } from './issue.ts'
import { idJagProfile, idJagTokenType } from './profile.ts'

declare module '@grantry/core' {
  interface OAuthErrorCodes {
    /** RFC 9470 section 3. */
    insufficient_user_authentication: 400
  }
  interface Demands {
    /** The session of the user must last. */
    session: { readonly sid: string }
  }
}

export type { IdJagClaims } from './id-jag-claims.ts'
export { type IdJagDecision, type IdJagOptions, type IdJagRequest, idJagSchema } from './id-jag-options.ts'

/**
 * Identity assertions (ID-JAG, "cross-app access"): an identity provider decides which clients get access to which
 * servers for its users, without a consent of each user at each server. `accept` is for the authorization server of a
 * resource, `issue` for the identity provider.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see draft-ietf-oauth-identity-assertion-authz-grant-04; MCP Enterprise-Managed Authorization
 */
export function idJag(options: IdJagOptions): Plugin {
  const { accept, issue } = parseConfiguration(idJagSchema, options, 'idJag()')
  if (accept === undefined && issue === undefined) {
    throw new TypeError('idJag(): set accept, issue or both; without them, the plugin does nothing')
  }
  return definePlugin('id-jag', [
    ...(accept === undefined
      ? []
      : [
          acceptingGrant(accept),
          defineFields({ metadata: { authorization_grant_profiles_supported: [idJagProfile] } }),
        ]),
    ...(issue === undefined
      ? []
      : [
          assertions,
          issuingGrant(issue),
          defineFields({
            errors: { insufficient_user_authentication: 400 },
            metadata: { identity_chaining_requested_token_types_supported: [idJagTokenType] },
          }),
        ]),
  ])
}
