import {
  revokeAndSignOut as revokeWith,
  type WithdrawnAccess,
  withdrawAccess as withdrawWith,
} from '@grantry/administration'
import type { Provider, RevocationTarget } from '@grantry/core'
import { userAuthorizations, userConsents, userSessions } from '../plugin-keys.ts'

/** Revokes a target, and ends the sessions of a user, if the provider has any. Returns their number. */
export const revokeAndSignOut = (target: RevocationTarget, provider: Provider): Promise<number> =>
  revokeWith(target, {
    revoke: provider.revoke,
    sessions: provider.has(userSessions) ? provider.use(userSessions) : undefined,
  })

/**
 * Ends the access of a client for a user, and counts the sessions, consents and authorizations that ended, as far as
 * the provider lists them.
 */
export const withdrawAccess = (
  target: { readonly subject: string; readonly clientId: string },
  provider: Provider,
): Promise<WithdrawnAccess> =>
  withdrawWith(target, {
    revoke: provider.revoke,
    authorizations: provider.has(userAuthorizations) ? provider.use(userAuthorizations) : undefined,
    consents: provider.has(userConsents) ? provider.use(userConsents) : undefined,
  })
