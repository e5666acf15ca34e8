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
 * @param change changes it. The function that it gets ends all again, and returns whether the password may still be changed:
 * call it directly before the write
 * @returns what `change` returns, and the state with which a session can begin. Both are absent if the user was revoked or
 * disabled before; the state is absent if that happened meanwhile
 */
export async function replacePassword<T>(
  { sub, standing, sessions }: Owner,
  kit: EndpointKit,
  change: (isStillAllowed: () => Promise<boolean>) => Promise<T>,
): Promise<{ readonly changed?: T | undefined; readonly standing?: Standing | undefined }> {
  let current: Standing | undefined = standing
  const end = async (): Promise<boolean> => {
    current = current && (await sessions.renewStanding(kit, sub, current))
    return current !== undefined && (await kit.isUserActive(sub))
  }
  if (!(await end())) return {}
  const changed = await change(end)
  if (await end()) return { changed, standing: current }
  await kit.revoke({ subject: sub })
  await sessions.endAll(kit, sub)
  return { changed }
}
