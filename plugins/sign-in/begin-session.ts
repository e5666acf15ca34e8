import type { EndpointKit, Reply } from '@grantry/core'
import {
  type SignedInUser,
  type Standing,
  type SuspendedInteraction,
  standingOf,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { FormServices } from './form-services.ts'

/** Reads the state of a user as soon as the user is known, so that a revocation during the rest of the check counts. */
export function standingWhenFound(kit: EndpointKit) {
  let standing: Promise<Standing> | undefined
  return {
    onFound(sub: string): void {
      standing = standingOf(kit, sub)
      // It is awaited after the attempt, unless that fails.
      standing.catch(() => {})
    },
    /** Returns what was read, or the current state if the check has not said when it found the user. */
    standingFor: (sub: string): Promise<Standing> => standing ?? standingOf(kit, sub),
  }
}

/** Begins a session, and continues with the request. */
export async function beginSession(
  user: SignedInUser,
  interaction: SuspendedInteraction,
  { interactions, sessions, ways }: Pick<FormServices, 'interactions' | 'sessions' | 'ways'>,
): Promise<Reply> {
  const { kit, http, id } = interaction
  await Promise.all(ways.map((way) => way.signedIn?.(user.subject.sub, interaction)))
  const { session, cookies } = await sessions.start(kit, user, http)
  await interactions.proceed(interaction, { signedIn: session.sid, chosen: session.sid })
  return { location: interactions.resumeUrl(kit, id), cookies }
}
