import { OAuthError } from '../errors/oauth-error.ts'
import type { Audiences } from '../tokens/audience.ts'
import type { Contributed } from './contributions.ts'
import type { CheckedResult } from './result.ts'

const notAllowed = (): OAuthError =>
  new OAuthError('invalid_target', 'The requested resource is not allowed', { reason: 'audience_not_allowed' })

/**
 * Limits the scopes of the access token to the audiences that the request asks for, or that the user consented to.
 * Scopes without an audience of their own remain.
 *
 * @throws OAuthError `invalid_target` when the granted scopes do not allow a requested audience.
 * @see RFC 8707 section 2.2
 */
export function narrowScopes(
  { scopes, audience: fromGrant, stored }: CheckedResult,
  { audience: fromChecks }: Contributed,
  audiences: Audiences,
): readonly string[] {
  const consented = stored?.record?.audience
  const requested = fromChecks ?? fromGrant
  if (requested === undefined) return consented === undefined ? scopes : audiences.within(scopes, consented)
  // Also for the audience of the grant: a check can only narrow it.
  const isAllowed = (audience: string): boolean =>
    [consented, fromGrant].every((limit) => limit === undefined || limit.includes(audience))
  if (requested.length === 0 || !requested.every(isAllowed)) throw notAllowed()
  const narrowed = audiences.within(scopes, requested)
  const reached = [audiences.of(narrowed)].flat()
  if (!requested.every((audience) => reached.includes(audience))) throw notAllowed()
  return narrowed
}
