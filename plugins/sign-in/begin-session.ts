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

/**
 * Reads the standing of a user before the proof of the user is checked, so that a revocation during the check has an
 * effect.
 */
export function standingAtProof(kit: EndpointKit) {
  let read: { readonly sub: string; readonly standing: Promise<Standing> } | undefined
  return {
    /** Resolves when the standing is read, with the time at which all sessions ended last (epoch seconds). */
    async readState(sub: string): Promise<number | undefined> {
      const standing = standingOf(kit, sub)
      read = { sub, standing }
      return endedAt(await standing)
    },
    /** Returns the standing that was read, or the current one if the check has not called `readState`. */
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
  // The user may have been deactivated since the proof began, and some proofs do not check whether the user is active.
  if (!(await kit.isUserActive(user.subject.sub))) {
    return signInPage(interaction, services, { problem: 'wrong_credentials' })
  }
  await Promise.all(ways.map((way) => way.signedIn?.(user.subject.sub, interaction)))
  const { session, cookies } = await sessions.start(kit, user, http)
  await interactions.proceed(interaction, { signedIn: session.sid, chosen: session.sid })
  return { location: interactions.resumeUrl(kit, id), cookies }
}

/** Performs the pending step of a user who has proved all required factors, then begins the session. */
export async function beginProved(
  user: SignedInUser,
  pending: PendingStep | undefined,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  if (pending === undefined) return beginSession(user, interaction, services)
  const { kit } = interaction
  const { sub } = user.subject
  // A revocation since the user was found, such as after the theft of a mailbox, also ends the pending step.
  const current = await standingOf(kit, sub)
  const { standing: seen = current } = user
  if (isOutdated(seen, current)) return signInPage(interaction, services, { problem: 'form_expired' })
  const way = services.ways.find(({ name }) => name === pending.way)
  // The way to sign in may revoke the earlier sessions and tokens of the user.
  const standing = await way?.proved?.(pending.data, seen, interaction, services.sessions)
  if (standing === undefined) return signInPage(interaction, services, { problem: 'form_expired' })
  if ('refused' in standing) return standing.refused
  return beginSession({ ...user, standing }, interaction, services)
}
