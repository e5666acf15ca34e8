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
 * Replaces the password of a user, and ends all sessions and authorizations that others may have got with the old
 * one: before the change, so that none is left if this process dies, and after it, for sign-ins in between. Each
 * time, only those end that began before the standing that this function knows, so it notices a revocation by another
 * call at any moment.
 *
 * @param change changes the password, and returns `undefined` or 'taken' if it has changed nothing. It receives a
 * function that ends all again, and returns whether the password may still be changed: call that function directly
 * before the write
 * @returns the result of `change`, absent if nothing was changed, and the standing with which a session can begin,
 * absent if the user was revoked or disabled meanwhile
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
  // If nothing was changed, nothing more ends: another call may have won, and its sessions stay.
  if (changed === undefined || changed === 'taken') return {}
  if (await end()) return { changed, standing: current }
  await kit.revoke({ subject: sub })
  await sessions.endAll(kit, sub)
  return { changed }
}
