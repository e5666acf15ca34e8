import type { RevocationTarget, Revoke } from '@grantry/core'

/** What ends what was issued: `provider.revoke`, and the sessions of users if there are any. */
export interface EndsAccess {
  readonly revoke: Revoke
  readonly sessions?: { endAll(subject: string): Promise<number> } | undefined
}

/** Revokes a target, and ends the sessions of a user, whose clients are informed. Returns the number of sessions. */
export async function revokeAndSignOut(target: RevocationTarget, { revoke, sessions }: EndsAccess): Promise<number> {
  await revoke(target)
  return 'subject' in target ? ((await sessions?.endAll(target.subject)) ?? 0) : 0
}
