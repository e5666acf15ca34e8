import type { EndpointKit, EndpointRequest } from '@grantry/core'
import type { Session, Sessions } from './sessions.ts'

/**
 * The session in which a user has begun what a later request ends, such as a link that comes back from another site. A
 * session has one user for as long as it lives: its id stands for the user, too.
 */
export interface BegunFlow {
  readonly sid: string
  /** Seconds since the authentication of the user within which it must end. */
  readonly maxAge: number
}

/** Whether the user has authenticated recently enough (seconds). */
export const isRecent = (
  {
    subject,
    provesTime = true,
  }: { readonly subject: Pick<Session['subject'], 'authTime'>; readonly provesTime?: boolean | undefined },
  maxAge: number,
  { now }: Pick<EndpointKit, 'now'>,
): boolean => provesTime && subject.authTime >= now() - maxAge

/**
 * Judges again, in the request that ends a flow, who has begun it. `ended`: the browser has another session, or its user was
 * revoked or deactivated since. `outdated`: the user has authenticated too long ago.
 */
export async function judgeFlow(
  { sid, maxAge }: BegunFlow,
  sessions: Pick<Sessions, 'find'>,
  http: EndpointRequest,
  kit: EndpointKit,
): Promise<'valid' | 'ended' | 'outdated'> {
  const session = await sessions.find(kit, http)
  if (session?.sid !== sid || !(await kit.isUserActive(session.subject.sub))) return 'ended'
  return isRecent(session, maxAge, kit) ? 'valid' : 'outdated'
}
