import type { RevocationTarget, Revoke } from '@grantry/core'

/** An entry of a list that belongs to one client. */
interface Listed {
  readonly clientId: string
}

/** The functions that end access: `provider.revoke`, and the sessions of users if there are any. */
export interface EndsAccess {
  readonly revoke: Revoke
  readonly sessions?: { endAll(subject: string): Promise<number> } | undefined
}

/** Revokes a target, and ends the sessions of a user, whose clients are informed. Returns the number of sessions. */
export async function revokeAndSignOut(target: RevocationTarget, { revoke, sessions }: EndsAccess): Promise<number> {
  await revoke(target)
  const isUser = 'subject' in target && target.clientId === undefined
  return isUser ? ((await sessions?.endAll(target.subject)) ?? 0) : 0
}

/**
 * The functions that end the access of a client for a user: `provider.revoke`, and the lists of the user if there are
 * any.
 */
export interface EndsAccessAtClient {
  readonly revoke: Revoke
  readonly authorizations?: { list(sub: string): Promise<readonly Listed[]> } | undefined
  readonly consents?:
    | { list(sub: string): Promise<readonly Listed[]>; revoke(sub: string, clientId: string): Promise<boolean> }
    | undefined
}

/** The numbers of listed authorizations and consents that ended. Access that no list shows has ended, too. */
export interface WithdrawnAccess {
  readonly authorizations: number
  readonly consents: number
}

/**
 * Ends all access that a user has given to a client so far, and counts the listed authorizations and consents of it.
 */
export async function withdrawAccess(
  { subject, clientId }: { readonly subject: string; readonly clientId: string },
  { revoke, authorizations, consents }: EndsAccessAtClient,
): Promise<WithdrawnAccess> {
  // Counted before, because the lists no longer show it afterwards.
  const listed = await Promise.all([authorizations?.list(subject), consents?.list(subject)])
  await revoke({ subject, clientId })
  await consents?.revoke(subject, clientId)
  const [authorized = 0, consented = 0] = listed.map(
    (items) => items?.filter((item) => item.clientId === clientId).length,
  )
  return { authorizations: authorized, consents: consented }
}
