import type { EndpointKit } from '@grantry/core'
import type { Sessions } from './sessions.ts'
import type { Standing } from './standing.ts'

/** Who gets a new password. */
interface Owner {
  readonly sub: string
  /** The state of the user when the user was authenticated. */
  readonly standing: Standing
  readonly sessions: Sessions
}

/**
 * Replaces the password of a user, and ends all that others may have got with the old one: before, so that none of it is
 * left if this process dies after the change, and afterwards, for sign-ins in between. Each time, only what has begun before
 * the state that this function knows can be ended: a revocation by another call is noticed at whichever moment it comes.
 *
 * @param change changes it, and returns `undefined` or 'taken' if it has changed nothing. The function that it gets ends all
 * again, and returns whether the password may still be changed: call it directly before the write
 * @returns what `change` returns, absent if nothing was changed, and the state with which a session can begin, absent if the
 * user was revoked or disabled meanwhile
 */
export async function replacePassword<T extends object>(
  { sub, standing, sessions }: Owner,
  kit: EndpointKit,
  change: (isStillAllowed: () => Promise<boolean>) => Promise<T | 'taken' | undefined>,
): Promise<{ readonly changed?: T | undefined; readonly standing?: Standing | undefined }> {
  let current: Standing | undefined = standing
  const end = async (): Promise<boolean> => {
    current = current && (await sessions.renewStanding(kit, sub, current))
    return current !== undefined && (await kit.isUserActive(sub))
  }
  if (!(await end())) return {}
  const changed = await change(end)
  // What has changed nothing ends nothing more: another call may have won, and its sessions stay.
  if (changed === undefined || changed === 'taken') return {}
  if (await end()) return { changed, standing: current }
  await kit.revoke({ subject: sub })
  await sessions.endAll(kit, sub)
  return { changed }
}
