import type { RevocationTarget, Revoke } from '@grantry/core'

/** What was issued at one client to one user. */
interface Listed {
  readonly clientId: string
}

/** What ends what was issued: `provider.revoke`, and the sessions of users if there are any. */
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

/** What ends the access of a client of a user: `provider.revoke`, and the lists of the user if there are any. */
export interface EndsAccessAtClient {
  readonly revoke: Revoke
  readonly authorizations?: { list(sub: string): Promise<readonly Listed[]> } | undefined
  readonly consents?:
    | { list(sub: string): Promise<readonly Listed[]>; revoke(sub: string, clientId: string): Promise<boolean> }
    | undefined
}

/** What the lists of a user had of a client. Access that no list shows has ended, too. */
export interface WithdrawnAccess {
  readonly authorizations: number
  readonly consents: number
}

/** Ends everything that a user has let a client have so far, and counts what the lists of the user had of it. */
export async function withdrawAccess(
  { subject, clientId }: { readonly subject: string; readonly clientId: string },
  { revoke, authorizations, consents }: EndsAccessAtClient,
): Promise<WithdrawnAccess> {
  // Before: afterwards, the lists no longer show it.
  const listed = await Promise.all([authorizations?.list(subject), consents?.list(subject)])
  await revoke({ subject, clientId })
  await consents?.revoke(subject, clientId)
  const [authorized = 0, consented = 0] = listed.map(
    (items) => items?.filter((item) => item.clientId === clientId).length,
  )
  return { authorizations: authorized, consents: consented }
}
