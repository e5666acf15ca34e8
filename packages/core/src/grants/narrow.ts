import { OAuthError } from '../errors/oauth-error.ts'
import type { Audiences } from '../tokens/audience.ts'
import type { Contributed } from './contributions.ts'
import type { CheckedResult } from './result.ts'

/** The refusal of an audience that the granted scopes, or the consent of the user, do not allow. */
export const audienceNotAllowed = (): OAuthError =>
  new OAuthError('invalid_target', 'The requested resource is not allowed', { reason: 'audience_not_allowed' })

/**
 * Limits the scopes of the access token to the audiences that the request asks for, or that the user consented to.
 * Identity scopes and `offline_access` remain.
 *
 * @throws OAuthError `invalid_target` when the granted scopes do not allow a requested audience.
 * @see RFC 8707 section 2.2
 */
export function narrowScopes(
  { scopes, audience: fromGrant, source }: CheckedResult,
  { audience: fromChecks }: Contributed,
  audiences: Audiences,
): readonly string[] {
  const consented = source?.record?.audience
  const requested = fromChecks ?? fromGrant
  const limit = requested ?? consented
  if (limit === undefined) return scopes
  const narrowed = audiences.within(scopes, limit)
  // A token without scopes would have the default audience, which was not requested.
  if (narrowed.length === 0 && scopes.length > 0) throw audienceNotAllowed()
  if (requested === undefined) return narrowed
  // A request can only narrow what the user consented to, and a check can only narrow what the grant returned.
  const isAllowed = (audience: string): boolean =>
    [consented, fromGrant].every((allowed) => allowed === undefined || allowed.includes(audience))
  if (requested.length === 0 || !requested.every(isAllowed)) throw audienceNotAllowed()
  const reached = audiences.listOf(narrowed)
  if (!requested.every((audience) => reached.includes(audience))) throw audienceNotAllowed()
  return narrowed
}
