import type { Provider, RevocationTarget } from '@grantry/core'
import { userSessions } from '@grantry/plugins/authorization-endpoint'

/** Revokes a target, and ends the sessions of a user, whose clients are informed. Returns the number of sessions. */
export async function revokeAndSignOut(target: RevocationTarget, provider: Provider): Promise<number> {
  await provider.revoke(target)
  return 'subject' in target && provider.has(userSessions) ? provider.use(userSessions).endAll(target.subject) : 0
}
