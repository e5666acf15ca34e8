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
  /** Ends all sessions of a user, and informs their clients. Returns their number. */
  endAll(provider: Host, sub: string): Promise<number>
}

/** The plugin, and its sessions. */
export interface AuthorizationEndpointPlugin extends Plugin {
  readonly sessions: UserSessions
}

export function createUserSessions(sessions: Sessions, plugin: string): UserSessions {
  const end = async (kit: EndpointKit, sid: string): Promise<boolean> => (await sessions.end(kit, sid)) !== undefined
  return {
    list: (provider, sub) => sessions.list(provider.kit(plugin), sub),
    end: (provider, sid) => end(provider.kit(plugin), sid),
    async endAll(provider, sub) {
      const kit = provider.kit(plugin)
      const all = await sessions.list(kit, sub)
      const ended = await Promise.all(all.map(({ sid }) => end(kit, sid)))
      return ended.filter(Boolean).length
    },
  }
}
