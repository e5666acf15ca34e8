import { type EndpointKit, hostKey } from '@grantry/core'
import type { Session, Sessions } from './sessions.ts'

/** The sessions of users, for host code: a page that lists them, a changed password, an operator. */
export interface UserSessions {
  /** The sessions of a user, in all browsers. */
  list(sub: string): Promise<readonly Session[]>
  /** Ends a session, and informs its clients. Returns whether it existed. */
  end(sid: string): Promise<boolean>
  /** Ends all sessions of a user, also after a revocation, and informs their clients. Returns their number. */
  endAll(sub: string): Promise<number>
}

/**
 * The key of the sessions of users.
 *
 * @example
 * const ended = await provider.use(userSessions).endAll('alice')
 */
export const userSessions = hostKey<UserSessions>('user-sessions', 'authorizationEndpoint()')

export const createUserSessions = (sessions: Sessions, kit: EndpointKit): UserSessions => ({
  list: (sub) => sessions.list(kit, sub),
  end: async (sid) => (await sessions.end(kit, sid)) !== undefined,
  endAll: (sub) => sessions.endAll(kit, sub),
})
