import type { Reply } from '@grantry/core'
import type { SignedInUser, SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { FormServices } from './form-services.ts'

/** Begins a session, and continues with the request. */
export async function beginSession(
  user: SignedInUser,
  interaction: SuspendedInteraction,
  { interactions, sessions }: Pick<FormServices, 'interactions' | 'sessions'>,
): Promise<Reply> {
  const { kit, http, id } = interaction
  const { session, cookies } = await sessions.start(kit, user, http)
  await interactions.proceed(interaction, { signedIn: session.sid, chosen: session.sid })
  return { location: interactions.resumeUrl(kit, id), cookies }
}
