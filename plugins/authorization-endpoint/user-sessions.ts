import type { EndpointKit, Plugin } from '@grantry/core'
import type { Session, Sessions } from './sessions.ts'

/** The provider with the endpoint. */
interface Host {
  kit(plugin: string): EndpointKit
}

/** The sessions of users, for host code: a page that lists them, a changed password, an operator. */
export interface UserSessions {
  /** The sessions of a user, in all browsers. */
  list(provider: Host, sub: string): Promise<readonly Session[]>
  /** Ends a session, and informs its clients. Returns whether it existed. */
  end(provider: Host, sid: string): Promise<boolean>
  /** Ends all sessions of a user, also after a revocation, and informs their clients. Returns their number. */
  endAll(provider: Host, sub: string): Promise<number>
}

/** The plugin, and its sessions. */
export interface AuthorizationEndpointPlugin extends Plugin {
  readonly sessions: UserSessions
}

export function createUserSessions(sessions: Sessions, plugin: string): UserSessions {
  return {
    list: (provider, sub) => sessions.list(provider.kit(plugin), sub),
    end: async (provider, sid) => (await sessions.end(provider.kit(plugin), sid)) !== undefined,
    endAll: (provider, sub) => sessions.endAll(provider.kit(plugin), sub),
  }
}
