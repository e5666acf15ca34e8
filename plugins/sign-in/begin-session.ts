import type { EndpointKit, Reply } from '@grantry/core'
import {
  endedAt,
  isOutdated,
  type SignedInUser,
  type Standing,
  type SuspendedInteraction,
  standingOf,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { FormServices } from './form-services.ts'
import { signInPage } from './views.ts'
import type { PendingStep } from './ways.ts'

/** Reads the state of a user before what proves the user is checked, so that a revocation during the check counts. */
export function standingAtProof(kit: EndpointKit) {
  let read: { readonly sub: string; readonly standing: Promise<Standing> } | undefined
  return {
    /** Resolves when the state is read, with the time when all sessions have ended last. */
    async readState(sub: string): Promise<number | undefined> {
      const standing = standingOf(kit, sub)
      read = { sub, standing }
      return endedAt(await standing)
    },
    /** Returns what was read, or the current state if the check has not said when it found the user. */
    standingFor: (sub: string): Promise<Standing> => (read?.sub === sub ? read.standing : standingOf(kit, sub)),
  }
}

/** Begins a session of a user who is active, and continues with the request. */
export async function beginSession(
  user: SignedInUser,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  const { interactions, sessions, ways } = services
  const { kit, http, id } = interaction
  // The user may have been deactivated since the proof began, or the proof does not depend on it.
  if (!(await kit.isUserActive(user.subject.sub))) {
    return signInPage(interaction, services, { problem: 'wrong_credentials' })
  }
  await Promise.all(ways.map((way) => way.signedIn?.(user.subject.sub, interaction)))
  const { session, cookies } = await sessions.start(kit, user, http)
  await interactions.proceed(interaction, { signedIn: session.sid, chosen: session.sid })
  return { location: interactions.resumeUrl(kit, id), cookies }
}

/** Does what was pending for a user who has proved all that is asked, then begins the session. */
export async function beginProved(
  user: SignedInUser,
  pending: PendingStep | undefined,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  if (pending === undefined) return beginSession(user, interaction, services)
  const { kit } = interaction
  const { sub } = user.subject
  // A revocation since the user was found, such as of a stolen mailbox, ends what was pending too.
  const current = await standingOf(kit, sub)
  const { standing: seen = current } = user
  if (isOutdated(seen, current)) return signInPage(interaction, services, { problem: 'form_expired' })
  const way = services.ways.find(({ name }) => name === pending.way)
  // The way may revoke what the user had before.
  const standing = await way?.proved?.(pending.data, seen, interaction, services.sessions)
  if (standing === undefined) return signInPage(interaction, services, { problem: 'form_expired' })
  if ('refused' in standing) return standing.refused
  return beginSession({ ...user, standing }, interaction, services)
}
