import type { EndpointKit, Reply } from '@grantry/core'
import {
  type SignedInUser,
  type Standing,
  type SuspendedInteraction,
  standingOf,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { FormServices } from './form-services.ts'
import { signInPage } from './views.ts'
import type { PendingStep } from './ways.ts'

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

/** Does what was pending for a user who has proved all that is asked, then begins the session. */
export async function beginProved(
  user: SignedInUser,
  pending: PendingStep | undefined,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  if (pending === undefined) return beginSession(user, interaction, services)
  const way = services.ways.find(({ name }) => name === pending.way)
  const isDone = await way?.proved?.(pending.data, interaction)
  if (isDone !== true) return signInPage(interaction, services, { problem: 'form_expired' })
  // It may have revoked what the user had before.
  const standing = await standingOf(interaction.kit, user.subject.sub)
  return beginSession({ ...user, standing }, interaction, services)
}
