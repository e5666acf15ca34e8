import { revokeAndSignOut as revokeWith } from '@grantry/administration'
import type { Provider, RevocationTarget } from '@grantry/core'
import { userSessions } from '@grantry/plugins/authorization-endpoint'

/** Revokes a target, and ends the sessions of a user, if the provider has any. Returns their number. */
export const revokeAndSignOut = (target: RevocationTarget, provider: Provider): Promise<number> =>
  revokeWith(target, {
    revoke: provider.revoke,
    sessions: provider.has(userSessions) ? provider.use(userSessions) : undefined,
  })
